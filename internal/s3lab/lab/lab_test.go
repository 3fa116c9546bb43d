package lab

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
)

// A port that is free is another's a moment later, unless it is on an address that
// nobody else listens on: processes have addresses of their own, and in one
// process no address is given twice.
func TestAddressesOfTheirOwn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: there is one loopback address")
	}
	hosts, addrs := map[string]bool{}, map[string]bool{}
	for _, pid := range []int{1, 255, 256, 65535, 65536, 1 << 21, 1<<22 - 1} {
		host := hostOf(pid)
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() || host == "127.0.0.1" || hosts[host] {
			t.Errorf("process %d has %s", pid, host)
		}
		hosts[host] = true
	}
	for range 100 {
		addr, err := freeAddr()
		if err != nil {
			t.Fatal(err)
		}
		if addrs[addr] || !strings.HasPrefix(addr, hostOf(os.Getpid())+":") {
			t.Fatalf("%s is given", addr)
		}
		addrs[addr] = true
	}
}
