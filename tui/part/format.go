package part

import (
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/tui/theme"
)

// Count writes a number with thin groups: 48 210.
func Count[T ~int | ~int64 | ~uint64](n T) string {
	s, sign := strconv.FormatUint(uint64(n), 10), ""
	if n < 0 {
		s, sign = strconv.FormatInt(int64(n), 10)[1:], "-"
	}
	if len(s) <= 4 {
		return sign + s
	}
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// Bytes writes a size in binary units with at most one decimal.
func Bytes[T ~int64 | ~uint64](n T) string {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	v, u := float64(n)/1024, 0
	for v >= 1024 && u < len(units)-1 {
		v /= 1024
		u++
	}
	prec := 1
	if v >= 100 {
		prec = 0
	}
	return strconv.FormatFloat(v, 'f', prec, 64) + " " + units[u:u+1] + "iB"
}

// Plural writes a count and its noun.
func Plural[T ~int | ~int64 | ~uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Age writes how long ago something was, coarsely. The second value is how
// long this text stays true.
func Age(d time.Duration) (text string, until time.Duration) {
	switch {
	case d < 10*time.Second:
		return "now", 10*time.Second - max(0, d)
	case d < time.Minute:
		return "< 1 m", time.Minute - d
	case d < time.Hour:
		m := d / time.Minute
		return strconv.Itoa(int(m)) + " m", (m+1)*time.Minute - d
	case d < 48*time.Hour:
		h := d / time.Hour
		return strconv.Itoa(int(h)) + " h", (h+1)*time.Hour - d
	default:
		days := d / (24 * time.Hour)
		return strconv.Itoa(int(days)) + " d", (days+1)*24*time.Hour - d
	}
}

// Ago is the age of a moment for columns; "" for no moment.
func Ago(now, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	d := now.Sub(at)
	if d < -time.Minute { // a clock was wrong, here or there
		return at.UTC().Format("2006-01-02")
	}
	s, _ := Age(d)
	return s
}

// Since is Ago as a part of a sentence: "2 h ago", "just now", or that the clock of
// whoever wrote it is ahead of this one. "" = at is not known.
func Since(now, at time.Time) string {
	switch age := Ago(now, at); {
	case age == "":
		return ""
	case age == "now":
		return "just now"
	case at.After(now):
		return "by a clock that is ahead of this one"
	default:
		return age + " ago"
	}
}

// When writes a moment in UTC to the second.
func When(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04:05") + "Z"
}

// Short abbreviates a commit id from its end: ids begin with the time, so
// neighbours look alike there.
func Short(id string, g theme.Glyphs) string {
	if len(id) <= 8 {
		return id
	}
	return g.More + id[len(id)-6:]
}

// Elapsed writes a duration that is still running.
func Elapsed(d time.Duration) string {
	if d < time.Minute {
		return strconv.FormatFloat(float64(d.Truncate(100*time.Millisecond))/float64(time.Second), 'f', 1, 64) + " s"
	}
	return strconv.Itoa(int(d/time.Minute)) + " m " + strconv.Itoa(int(d%time.Minute/time.Second)) + " s"
}

// Bar draws v of total as eighths of cells, w cells wide at most.
func Bar(g theme.Glyphs, v, total float64, w int) string {
	if total <= 0 || v <= 0 || w <= 0 {
		return ""
	}
	n := max(1, int(min(v/total, 1)*float64(w*8)+0.5))
	s := strings.Repeat(g.Eighths[7], n/8)
	if n%8 > 0 {
		s += g.Eighths[n%8-1]
	}
	return s
}
