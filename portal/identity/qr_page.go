package identity

import (
	"fmt"
	"strings"

	"rsc.io/qr/coding"
)

// qrQuiet is the quiet zone around a QR code, in modules.
const qrQuiet = 4

// qrCode draws a text as the path of an SVG, and returns its width in modules with the quiet zone; "" for a text that is too long.
func qrCode(text string) (path string, size int) {
	enc, level := coding.String(text), coding.L
	v := coding.Version(coding.MinVersion)
	for enc.Bits(v) > v.DataBytes(level)*8 {
		if v++; v > coding.MaxVersion {
			return "", 0
		}
	}
	plan, err := coding.NewPlan(v, level, 0)
	if err != nil {
		return "", 0
	}
	code, err := plan.Encode(enc)
	if err != nil {
		return "", 0
	}
	var b strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			if run := 0; code.Black(x, y) {
				for x+run < code.Size && code.Black(x+run, y) {
					run++
				}
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+qrQuiet, y+qrQuiet, run, run)
				x += run
			}
		}
	}
	return b.String(), code.Size + 2*qrQuiet
}
