//go:build real

package portaltest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"slices"

	"github.com/chromedp/chromedp"
)

// Picture takes a picture of the whole page as it stands, down to so many pixels, as a small PNG.
func (b *Browser) Picture(most int) []byte {
	b.t.Helper()
	full, err := chromedp.Run(b.Ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	small, err := fewer(full, most)
	if err != nil {
		b.t.Fatal(err)
	}
	return small
}

// Wide returns how wide the page is beside its window.
func (b *Browser) Wide() int64 {
	b.t.Helper()
	wide, err := chromedp.Run(b.Ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
	if err != nil {
		b.t.Fatal(err)
	}
	return wide
}

// fewer returns a PNG with the colours that are on it most, each other one in the nearest of them, cut at a height. Pages have few colours
// beside the soft edges of letters, so no one sees it.
func fewer(picture []byte, height int) ([]byte, error) {
	in, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	r := in.Bounds()
	r.Max.Y = min(r.Max.Y, r.Min.Y+height)
	counts := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(in.At(x, y)).(color.RGBA) }
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	// Shades that differ by next to nothing count as one, or those of one letter take all places.
	merged := map[color.RGBA]int{}
	for c, n := range counts {
		merged[color.RGBA{c.R &^ 7, c.G &^ 7, c.B &^ 7, 255}] += n
	}
	var order []color.RGBA
	for c := range counts {
		order = append(order, c)
	}
	slices.SortFunc(order, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	taken := map[color.RGBA]bool{}
	for _, c := range order {
		key := color.RGBA{c.R &^ 7, c.G &^ 7, c.B &^ 7, 255}
		if len(palette) < 256 && (!taken[key] || counts[c]*4 > merged[key]) {
			palette, taken[key] = append(palette, c), true
		}
	}
	places := map[color.RGBA]uint8{}
	out := image.NewPaletted(image.Rect(0, 0, r.Dx(), r.Dy()), palette)
	for y := range r.Dy() {
		for x := range r.Dx() {
			c := at(r.Min.X+x, r.Min.Y+y)
			i, known := places[c]
			if !known {
				i = uint8(palette.Index(c))
				places[c] = i
			}
			out.Pix[y*out.Stride+x] = i
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out)
	return b.Bytes(), err
}
