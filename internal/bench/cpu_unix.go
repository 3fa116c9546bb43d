//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// cpu is the processor time of this process in milliseconds.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	ms := func(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e6 }
	return ms(r.Utime) + ms(r.Stime)
}

// peak is the most memory that a process which has ended held, in MB.
func peak(p *os.ProcessState) float64 {
	r, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(r.Maxrss) / 1e6 // bytes
	}
	return float64(r.Maxrss) / 1e3
}
