package theme

import "fmt"

// styles are the parameters of a select-graphic-rendition sequence for each
// role, "" for plain text.
type styles [roleCount]string

// with is a set of styles with some of them replaced.
func (s styles) with(other map[Role]string) styles {
	for r, v := range other {
		s[r] = v
	}
	return s
}

// ink is a 24-bit foreground, paper a 24-bit background.
func ink(c uint32) string   { return fmt.Sprintf("38;2;%d;%d;%d", c>>16, c>>8&0xff, c&0xff) }
func paper(c uint32) string { return fmt.Sprintf("48;2;%d;%d;%d", c>>16, c>>8&0xff, c&0xff) }

func inks(from Role, colours ...uint32) styles {
	var s styles
	for i, c := range colours {
		s[from+Role(i)] = ink(c)
	}
	return s
}

// mono is what every theme begins with: attributes only.
var mono = styles{
	Muted: "2", Strong: "1", Accent: "1", Select: "7", Mark: "1", Bad: "1", Write: "1;7", Chip: "7", Border: "2",
	Match: "1;4", Travel: "1;7", RW: "1;7", Added: "1", Changed: "1;4",
}

// sixteen are the variants of ansi16. The numbers are foregrounds 31 to 36 of
// the dark set and 91 to 96 of the bright one, backgrounds 41 and 43.
var sixteen = map[Background]styles{
	Dark: mono.with(map[Role]string{
		Accent: "1;96", OK: "92", Warn: "93", Bad: "1;91", Write: "1;7;91", RW: "1;7;91", Travel: "1;30;43",
		Match: "1;4;93", Added: "92", Removed: "91", Changed: "1;4;93",
		Lane0: "96", Lane1: "95", Lane2: "92", Lane3: "93", Lane4: "94", Lane5: "91", Lane6: "36", Lane7: "35",
	}),
	Light: mono.with(map[Role]string{
		Accent: "1;34", OK: "34", Warn: "35", Bad: "1;31", Write: "1;7;31", RW: "1;7;31", Travel: "1;30;43",
		Match: "1;4;35", Added: "34", Removed: "31", Changed: "1;4;35",
		Lane0: "34", Lane1: "35", Lane2: "31", Lane3: "", Lane4: "94", Lane5: "95", Lane6: "91", Lane7: "90",
	}),
	Unknown: mono.with(map[Role]string{
		Warn: "30;43", Bad: "1;97;41", Write: "1;97;41", RW: "1;97;41", Travel: "1;30;43",
		Lane0: "94", Lane1: "35", Lane2: "", Lane3: "90", Lane4: "91", Lane5: "95", Lane6: "1", Lane7: "31",
	}),
}

// lanes are eight colours of which neighbours differ most.
var (
	darkLanes  = inks(Lane0, 0x6cb6ff, 0xff9ecb, 0x7ee081, 0xffc14d, 0xb9a3ff, 0x4fd6d2, 0xffa07a, 0xc8d0da)
	lightLanes = inks(Lane0, 0x0550ae, 0xa0237a, 0x116329, 0x8a4600, 0x6639ba, 0x0b6a70, 0xb3121f, 0x57606a)
)

var dark = darkLanes.with(map[Role]string{
	Muted: ink(0xa3adba), Strong: "1", Accent: "1;" + ink(0x6cb6ff), Select: "7", Mark: "1;" + ink(0xf0f4f8) + ";" + paper(0x303844),
	OK: ink(0x7ee081), Warn: ink(0xffc14d), Bad: "1;" + ink(0xff8a80), Border: ink(0x808b99),
	Write: "1;" + ink(0x200000) + ";" + paper(0xff8a80), RW: "1;" + ink(0x200000) + ";" + paper(0xff8a80),
	Chip: ink(0x10141a) + ";" + paper(0x9ec8ff), Travel: "1;" + ink(0x1a1200) + ";" + paper(0xffb000),
	Match: "1;4;" + ink(0xffd866), Added: ink(0x7ee081), Removed: ink(0xff8a80), Changed: "1;4;" + ink(0xffc14d),
})

var light = lightLanes.with(map[Role]string{
	Muted: ink(0x57606a), Strong: "1", Accent: "1;" + ink(0x0550ae), Select: "7", Mark: "1;" + ink(0x101418) + ";" + paper(0xdde4ec),
	OK: ink(0x116329), Warn: ink(0x7d4e00), Bad: "1;" + ink(0xb3121f), Border: ink(0x6e7781),
	Write: "1;" + ink(0xffffff) + ";" + paper(0xb3121f), RW: "1;" + ink(0xffffff) + ";" + paper(0xb3121f),
	Chip: ink(0xffffff) + ";" + paper(0x0550ae), Travel: "1;" + ink(0x1a1200) + ";" + paper(0xffb000),
	Match: "1;4;" + ink(0x6639ba), Added: ink(0x116329), Removed: ink(0xb3121f), Changed: "1;4;" + ink(0x7d4e00),
})

// plainest is the contrast theme without a colour but that of its chips.
var plainest = mono.with(map[Role]string{
	Muted: "", Border: "", OK: "1", Warn: "1;30;43", Bad: "1;4", Write: "1;4;7", Chip: "1;7", Travel: "1;30;43", RW: "1;4;7",
	Removed: "4",
})

// bare is plainest without the colours of chips.
var bare = plainest.with(map[Role]string{Warn: "1", Travel: "1;7"})

var contrasts = map[Background]styles{
	Unknown: plainest,
	Dark: plainest.with(map[Role]string{
		Accent: "1;" + ink(0x8fd8ff), OK: "1;" + ink(0x8dff99), Warn: "1;" + ink(0xffe14d), Bad: "1;4;" + ink(0xffb3ad),
		Write: "1;4;" + ink(0x000000) + ";" + paper(0xffb3ad), RW: "1;4;" + ink(0x000000) + ";" + paper(0xffb3ad),
		Chip: "1;" + ink(0x000000) + ";" + paper(0xffffff), Travel: "1;" + ink(0x000000) + ";" + paper(0xffd000),
		Match: "1;4;" + ink(0xffe14d), Added: "1;" + ink(0x8dff99), Removed: "1;" + ink(0xffb3ad), Changed: "1;4;" + ink(0xffe14d),
		Lane0: ink(0x8fd8ff), Lane1: ink(0xffb8dd), Lane2: ink(0x8dff99), Lane3: ink(0xffe14d),
		Lane4: ink(0xd0c2ff), Lane5: ink(0x7ff0ec), Lane6: ink(0xffc8a8), Lane7: ink(0xffffff),
	}),
	// Of the 256 colours that terminals may reduce these to, few are this dark:
	// there is no yellow and no cyan.
	Light: plainest.with(map[Role]string{
		Accent: "1;" + ink(0x000087), OK: "1;" + ink(0x005f00), Warn: "1;" + ink(0x5f005f), Bad: "1;4;" + ink(0x870000),
		Write: "1;4;" + ink(0xffffff) + ";" + paper(0x870000), RW: "1;4;" + ink(0xffffff) + ";" + paper(0x870000),
		Chip: "1;" + ink(0xffffff) + ";" + paper(0x000000), Travel: "1;" + ink(0x000000) + ";" + paper(0xffd000),
		Match: "1;4;" + ink(0x5f0087), Added: "1;" + ink(0x005f00), Removed: "1;" + ink(0x870000), Changed: "1;4;" + ink(0x5f005f),
		Lane0: ink(0x000087), Lane1: ink(0x870000), Lane2: ink(0x005f00), Lane3: ink(0x5f0087),
		Lane4: ink(0x4e4e4e), Lane5: ink(0x5f0000), Lane6: ink(0x00005f), Lane7: ink(0x000000),
	}),
}
