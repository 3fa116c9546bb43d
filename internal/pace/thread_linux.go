package pace

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime is the processor time of the calling thread so far. A bubble of
// testing/synctest does not stop it.
func threadTime() time.Duration { return clock(3) } // CLOCK_THREAD_CPUTIME_ID

// processTime is that of all threads.
func processTime() time.Duration { return clock(2) } // CLOCK_PROCESS_CPUTIME_ID

func clock(id uintptr) time.Duration {
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(ts.Nano())
}
