//go:build !unix

package main

import "os"

// cpu is the processor time of this process, which is not known here: 0.
func cpu() float64 { return 0 }

// peak is the memory of a process, which is not known here: 0.
func peak(*os.ProcessState) float64 { return 0 }
