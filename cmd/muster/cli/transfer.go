package cli

import (
	"fmt"
	"io"
	"muster/app/humanize"
	"strings"
	"time"
)

// Transfer shows the progress of a large transfer, on a terminal and if it takes longer than a second.
type Transfer struct {
	w     io.Writer
	what  string
	total int64
	began time.Time
	last  time.Time
	shown bool
}

func NewTransfer(w io.Writer, what string, total int64) *Transfer {
	return &Transfer{w: w, what: what, total: total, began: time.Now()}
}

func (t *Transfer) Seen(n int64) {
	now := time.Now()
	if t.w == nil || now.Sub(t.began) < time.Second || now.Sub(t.last) < 200*time.Millisecond {
		return
	}
	t.last, t.shown = now, true
	const width = 24
	full := 0
	if t.total > 0 {
		full = int(min(n, t.total) * width / t.total)
	}
	speed := float64(n) / now.Sub(t.began).Seconds()
	left := ""
	if speed > 0 && n < t.total {
		left = ", " + humanize.Duration(time.Duration(float64(t.total-n)/speed*float64(time.Second))) + " left"
	}
	fmt.Fprintf(t.w, Control(t.w, "\r\x1b[K")+"%s [%s%s] %s of %s, %s/s%s", t.what, strings.Repeat("#", full), strings.Repeat(".", width-full), humanize.Bytes(n), humanize.Bytes(t.total), humanize.Bytes(int64(speed)), left)
}

func (t *Transfer) End() {
	if t.shown {
		fmt.Fprint(t.w, Control(t.w, "\r\x1b[K"))
	}
}
