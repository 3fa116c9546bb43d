//go:build unix

package main

import "syscall"

// cpu is the processor time of this process in milliseconds.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	ms := func(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e6 }
	return ms(r.Utime) + ms(r.Stime)
}
