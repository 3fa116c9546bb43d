package value

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ParseDate reads date text (package comment) as days since 1970.
func ParseDate(text string) (days int32, ok bool) {
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		return longYear(text)
	}
	if len(text) > 10 {
		at, ok := readStamp(text)
		return int32(at.day), ok
	}
	if len(text) == 8 && len(digitsOf(text)) == 8 {
		return dayOf(number(text[:4]), number(text[4:6]), number(text[6:]))
	}
	parts := strings.Split(text, "-")
	if len(parts) != 3 || len(parts[0]) != 4 || len(parts[1]) > 2 || len(parts[2]) > 2 {
		return 0, false
	}
	for _, p := range parts {
		if p == "" || digitsOf(p) != p {
			return 0, false
		}
	}
	return dayOf(number(parts[0]), number(parts[1]), number(parts[2]))
}

// longYear reads a date whose year has a sign and at least four digits.
func longYear(text string) (int32, bool) {
	parts := strings.SplitN(text[1:], "-", 3)
	if len(parts) != 3 || len(parts[0]) < 4 {
		return 0, false
	}
	year, err := strconv.ParseInt(text[:1+len(parts[0])], 10, 32)
	if err != nil {
		return 0, false
	}
	month, err1 := strconv.ParseUint(strings.TrimPrefix(parts[1], "+"), 10, 32)
	day, err2 := strconv.ParseUint(strings.TrimPrefix(parts[2], "+"), 10, 32)
	if err1 != nil || err2 != nil || month > 12 || day > 31 {
		return 0, false
	}
	return dayOf(int(year), int(month), int(day))
}

// Years beyond these have no date.
const minYear, maxYear = -262143, 262142

// dayOf is the day of the proleptic Gregorian calendar, if there is such a day.
func dayOf(year, month, day int) (int32, bool) {
	if year < minYear || year > maxYear || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day {
		return 0, false
	}
	return int32(floorDiv(t.Unix(), 86400)), true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ParseDateTime reads the text of a date and time (package comment) as
// milliseconds since 1970.
func ParseDateTime(text string) (ms int64, ok bool) {
	if len(text) <= 10 {
		days, ok := ParseDate(text)
		return int64(days) * 86_400_000, ok
	}
	at, ok := readStamp(text)
	return at.day*86_400_000 + at.ms, ok
}

// stamp is a time in UTC. ms may reach beyond the day by the leap second.
type stamp struct{ day, ms int64 }

// readStamp reads a date of ten characters, a time, and a zone.
func readStamp(text string) (out stamp, ok bool) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' || digitsOf(text[:4]) != text[:4] {
		return out, false
	}
	day, ok := ParseDate(text[:10])
	if !ok {
		return out, false
	}
	if len(text) == 10 {
		return stamp{day: int64(day)}, true
	}
	if strings.IndexByte("Tt ", text[10]) < 0 {
		return out, false
	}
	seconds, ms, rest, ok := clock(text[11:])
	if !ok {
		return out, false
	}
	offset, ok := zone(rest)
	if !ok {
		return out, false
	}
	at := int64(day)*86400 + seconds - offset
	out.day = floorDiv(at, 86400)
	out.ms = (at-out.day*86400)*1000 + ms
	return out, true
}

// clock reads a time of day; what follows it is the rest. Of second 60 the ms
// are those behind second 59.
func clock(text string) (seconds, ms int64, rest string, ok bool) {
	var h, m, s int
	head := digitsOf(text)
	switch {
	case len(head) == 2 && len(text) >= 8 && text[2] == ':' && text[5] == ':' && len(digitsOf(text[3:])) == 2 && len(digitsOf(text[6:])) >= 2:
		if len(digitsOf(text[6:])) > 2 {
			return 0, 0, "", false
		}
		h, m, s, rest = number(text[:2]), number(text[3:5]), number(text[6:8]), text[8:]
	case len(head) == 6:
		h, m, s, rest = number(text[:2]), number(text[2:4]), number(text[4:6]), text[6:]
		// The Rust engine demands that neither of the next two characters is
		// a digit, so a zone must not touch this form.
		if next := rest[:min(2, len(rest))]; strings.ContainsAny(next, "0123456789") {
			return 0, 0, "", false
		}
	default:
		return 0, 0, "", false
	}
	if len(head) == 2 && strings.HasPrefix(rest, ".") {
		fraction := digitsOf(rest[1:])
		if fraction == "" {
			return 0, 0, "", false
		}
		rest = rest[1+len(fraction):]
		ms = int64(number((fraction + "00")[:3]))
	}
	if s == 60 {
		s, ms = 59, ms+1000
	}
	return int64(h*3600 + m*60 + s), ms, rest, h < 24 && m < 60 && s < 60
}

// zone reads what follows a time as seconds east of UTC.
func zone(text string) (seconds int64, ok bool) {
	if text == "" || text == "Z" || text == "z" {
		return 0, true
	}
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if text == "UTC" {
		return 0, true
	}
	if len(text) == 6 && text[3] == ':' {
		text = text[:3] + text[4:]
	}
	if len(text) == 3 {
		text += "00"
	}
	if len(text) != 5 || digitsOf(text[1:]) != text[1:] {
		return 0, false
	}
	h, m := number(text[1:3]), number(text[3:])
	seconds = int64(h*3600 + m*60)
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, (text[0] == '+' || text[0] == '-') && h*60+m < 24*60
}

// digitsOf are the digits that a text starts with.
func digitsOf(text string) string {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return text[:n]
}

// number is the value of at most four digits.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}
