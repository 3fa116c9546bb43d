// Package shell spells command lines of this program so that a POSIX shell reads
// them as they are meant: what a message tells to type can be typed.
package shell

import "strings"

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"

// Line is `omnideck` with arguments, each as one word.
func Line(args ...string) string {
	var b strings.Builder
	b.WriteString("omnideck")
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(Quoted(a))
	}
	return b.String()
}

// Quoted makes one word of text.
func Quoted(s string) string {
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
