// Omnideck is a terminal workstation and a set of verbs for OmniGraph graphs.
package main

import (
	"os"

	"github.com/omnideck/omnideck/cli"
	_ "github.com/omnideck/omnideck/cli/firstgc" // before anything that allocates
)

func main() { os.Exit(cli.Main()) }
