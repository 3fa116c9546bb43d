// Package file reads Lance data files of format 2.0, 2.1 and 2.2.
package file
