// Package daytime reads the texts that stand for values of Date and DateTime,
// in queries, parameters and JSON lines.
//
//	Date      YYYY-MM-DD, also with one digit of month or day; YYYYMMDD;
//	          ±Y…Y-M-D with a sign and at least four digits of year;
//	          of a longer text the day, in UTC, of the DateTime that it is
//	DateTime  a Date of at most ten characters: its midnight in UTC; else
//	          YYYY-MM-DD, then T, t or a space, then HH:MM:SS or HHMMSS, the
//	          former with a fraction if there is one, then the zone: none (UTC),
//	          Z, z, ±HH:MM, ±HHMM or ±HH, a space before it or none
//
// Second 60 is the first of the next minute, but of its own day. What is finer
// than a millisecond is cut off, towards the past. Names of zones (CET,
// Europe/Berlin), which the Rust engine takes, are refused: what they mean
// depends on a table that changes.
//
// Source: what the Rust engine v0.10.0 takes (languages.md §4.3, and the binary
// itself: daytime_test.go).
package daytime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const dayMillis = 24 * 60 * 60 * 1000

// The first and the last year that can be written.
const firstYear, lastYear = -262143, 262142

// Days reads a Date: days since 1970-01-01.
func Days(text string) (int32, error) {
	if days, ok := date(text); ok {
		return int32(days), nil
	}
	return 0, fmt.Errorf("invalid Date literal '%s': expected a day like 2024-02-29", text)
}

// Millis reads a DateTime: milliseconds since 1970-01-01 00:00 UTC.
func Millis(text string) (int64, error) {
	if len(text) <= 10 {
		if days, ok := date(text); ok {
			return days * dayMillis, nil
		}
	} else if ms, _, ok := moment(text); ok {
		return ms, nil
	}
	return 0, fmt.Errorf("invalid DateTime literal '%s': expected a time like 2024-02-29T13:30:00Z", text)
}

func date(s string) (int64, bool) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return signed(s)
	}
	if len(s) > 10 {
		ms, leap, ok := moment(s)
		ms -= leap
		return (ms - (ms%dayMillis+dayMillis)%dayMillis) / dayMillis, ok
	}
	if len(s) == 8 && digits(s) {
		return civil(s[:4], s[4:6], s[6:])
	}
	parts := strings.Split(s, "-")
	if len(parts) != 3 || len(parts[0]) != 4 || len(parts[1]) > 2 || len(parts[2]) > 2 {
		return 0, false
	}
	return civil(parts[0], parts[1], parts[2])
}

// signed reads ±Y…Y-M-D.
func signed(s string) (int64, bool) {
	parts := strings.SplitN(s[1:], "-", 3)
	if len(parts) != 3 || len(parts[0]) < 4 || !digits(parts[0]) {
		return 0, false
	}
	return civil(s[:1]+parts[0], strings.TrimPrefix(parts[1], "+"), strings.TrimPrefix(parts[2], "+"))
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// civil is the day since 1970-01-01 of a day that exists.
func civil(year, month, day string) (int64, bool) {
	y, err := strconv.Atoi(year)
	if err != nil || y < firstYear || y > lastYear || !digits(month) || !digits(day) {
		return 0, false
	}
	m, errM := strconv.Atoi(month)
	d, errD := strconv.Atoi(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if errM != nil || errD != nil || m > 12 || d > 31 || t.Month() != time.Month(m) || t.Day() != d {
		return 0, false
	}
	return t.Unix() / (dayMillis / 1000), true
}

// moment reads a day and a time; leap is what of it is a leap second.
func moment(s string) (ms, leap int64, ok bool) {
	if len(s) < 17 || s[4] != '-' || s[7] != '-' || strings.IndexByte("Tt ", s[10]) < 0 || !digits(s[:4]) {
		return 0, 0, false
	}
	days, ok := civil(s[:4], s[5:7], s[8:10])
	if !ok {
		return 0, 0, false
	}
	ms, leap, rest, ok := clock(s[11:])
	if !ok {
		return 0, 0, false
	}
	offset, ok := zone(rest)
	return days*dayMillis + ms - offset, leap, ok
}

// clock reads the time of a day, says what of it is a leap second, and returns
// what follows it.
func clock(s string) (ms, leap int64, rest string, ok bool) {
	h, m, sec, n := "", "", "", 6
	switch {
	case len(s) >= 8 && s[2] == ':' && s[5] == ':':
		h, m, sec, n = s[:2], s[3:5], s[6:8], 8
	case digits(s[:6]) && (len(s) == 6 || !digits(s[6:7])) && (len(s) < 8 || !digits(s[7:8])):
		h, m, sec = s[:2], s[2:4], s[4:6]
	default:
		return 0, 0, "", false
	}
	if !digits(h+m+sec) || h > "23" || m > "59" || sec > "60" {
		return 0, 0, "", false
	}
	at := func(two string) int64 { return int64(two[0]-'0')*10 + int64(two[1]-'0') }
	ms, rest = ((at(h)*60+at(m))*60+at(sec))*1000, s[n:]
	if sec == "60" {
		leap = 1000
	}
	if n == 8 && strings.HasPrefix(rest, ".") {
		fraction := rest[1 : len(rest)-len(strings.TrimLeft(rest[1:], "0123456789"))]
		if fraction == "" {
			return 0, 0, "", false
		}
		thousandths := (fraction + "00")[:3]
		ms += at(thousandths)*10 + int64(thousandths[2]-'0')
		rest = rest[1+len(fraction):]
	}
	return ms, leap, rest, true
}

// zone is the offset from UTC in milliseconds.
func zone(s string) (int64, bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	var hm string
	switch {
	case len(s) == 6 && s[3] == ':':
		hm = s[1:3] + s[4:]
	case len(s) == 5:
		hm = s[1:]
	case len(s) == 3:
		hm = s[1:] + "00"
	}
	if !digits(hm) || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	n, err := strconv.Atoi(hm)
	minutes := int64(n/100*60 + n%100)
	if err != nil || minutes >= 24*60 {
		return 0, false
	}
	if s[0] == '-' {
		minutes = -minutes
	}
	return minutes * 60 * 1000, true
}
