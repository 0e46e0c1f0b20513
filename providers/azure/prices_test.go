package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// dials are the addresses that an account connects to. All of them lead to the simulator.
type dials struct {
	mu   sync.Mutex
	all  []string
	down string // an address that can't be reached
	hold func(address string)
}

func (d *dials) hosts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := slices.Clone(d.all)
	slices.Sort(out)
	return slices.Compact(out)
}

// openPublic opens the account as most people have it, with the addresses of Azure itself.
func (w *world) openPublic(t *testing.T, p pauses, more ...string) (*group, *dials) {
	t.Helper()
	d := &dials{}
	transport := w.srv.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com" // whose certificate the server has
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		d.mu.Lock()
		d.all = append(d.all, address)
		down := d.down == address
		d.mu.Unlock()
		if d.hold != nil {
			d.hold(address)
		}
		if down {
			return nil, &net.OpError{Op: "dial", Err: errors.New("no route to host")}
		}
		return (&net.Dialer{}).DialContext(ctx, network, w.srv.Listener.Addr().String())
	}
	s := w.settings(more...)
	delete(s, "api_url")
	g, err := open(s, p, transport)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g, d
}

func mustOffer(t *testing.T, g *group) family.Offers {
	t.Helper()
	o, err := g.Offers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func pricesIn(o family.Offers) map[string]float64 {
	out := map[string]float64{}
	for _, f := range o.Flavors {
		out[f.Flavor.Flavor] = f.CostPerHour
	}
	return out
}

func TestOffersHavePrices(t *testing.T) {
	w := newWorld(t)
	w.page = 100 // so that a list of sizes isn't what takes long
	for _, size := range []string{"Standard_NC24ads_A100_v4", "Standard_NCC40ads_H100_v5", "Standard_E16-4s_v3", "Standard_M8ms", "Standard_F2",
		"Standard_New_v9"} {
		w.sizes[size] = sizeOf(size, "standardFamily", "4", "16")
	}
	w.prices.items = append(w.prices.items,
		metered("Standard_NC24ads_A100_v4", 3.673, "productName", "NCads A100 v4 Series Linux"),
		metered("Standard_NCC40ads_H100_v5", 9.73, "productName", "Virtual Machines NCCadsv5 Srs Win"),
		metered("Standard_NCC40ads_H100_v5", 7.89, "productName", "Virtual Machines NCCadsv5 Srs Linux"),
		metered("Standard_E16-4s_v3", 1.28, "isPrimaryMeterRegion", false),
		metered("Standard_M8ms", 2.5, "productName", "Virtual Machines MS Series Windows"),
		metered("Standard_F2", 0.09, "currencyCode", "EUR"),
		metered("Standard_New_v9", 0))
	g, d := w.openPublic(t, quick)
	o := mustOffer(t, g)
	want := map[string]float64{simSize: 0.048, "Standard_D4s_v5": 0.23, "Standard_B2ts_v2": 0.0105, "Standard_NC24ads_A100_v4": 3.673,
		"Standard_NCC40ads_H100_v5": 7.89, "Standard_E16-4s_v3": 1.28, "Standard_M8ms": 0, "Standard_F2": 0, "Standard_New_v9": 0}
	if got := pricesIn(o); !reflect.DeepEqual(got, want) || o.Currency != "USD" {
		t.Errorf("prices in %q: %v, want %v", o.Currency, got, want)
	}
	if asked := w.prices.asked(); len(asked) < 4 || !strings.Contains(asked[len(asked)-1], "skip=") {
		t.Errorf("the list isn't read to its end: %v", asked)
	}
	if hosts := d.hosts(); !reflect.DeepEqual(hosts, []string{strings.TrimPrefix(w.srv.URL, "https://"), "management.azure.com:443", "prices.azure.com:443"}) {
		t.Errorf("connections to %v", hosts)
	}
	// Nothing is kept: another price shows at once.
	w.prices.mu.Lock()
	w.prices.items[3]["retailPrice"] = 0.05
	w.prices.mu.Unlock()
	if got := pricesIn(mustOffer(t, g))[simSize]; got != 0.05 {
		t.Errorf("after a change of the list: %v", got)
	}
}

// Whatever is wrong with the list of prices, offers are those that there would be without one.
func TestOffersWithoutPrices(t *testing.T) {
	status := func(n int, body string) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Retry-After", "60")
			w.Header().Set("Location", "https://elsewhere.example/api/retail/prices")
			w.WriteHeader(n)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	onlyAfter := func(from int, spoil func(http.ResponseWriter, *http.Request, int) bool) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, r *http.Request, at int) bool { return at >= from && spoil(w, r, at) }
	}
	hang := func(_ http.ResponseWriter, r *http.Request, _ int) bool { <-r.Context().Done(); return true }
	endless := func(step func(from int) int) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, r *http.Request, from int) bool {
			answer(w, 200, map[string]any{"Items": simList(), "NextPageLink": priceLink(r, step(from))})
			return true
		}
	}
	stream := func(part string, every time.Duration) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, r *http.Request, _ int) bool {
			_, _ = io.WriteString(w, `{"Items":[`)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, part); err != nil {
					return true
				}
				if every > 0 {
					_ = http.NewResponseController(w).Flush()
					_ = pause(r.Context(), every)
				}
			}
			return true
		}
	}
	good := `{"armSkuName":"` + simSize + `","retailPrice":1},`
	for name, c := range map[string]struct {
		spoil    func(http.ResponseWriter, *http.Request, int) bool
		down     bool
		empty    bool          // which isn't an error
		requests int           // 0 for one, -1 for none
		patience time.Duration // 0 for more than it takes
	}{
		"it can't be reached":       {down: true, requests: -1},
		"it fails":                  {spoil: status(500, `{"Items":[]}`)},
		"it wants fewer requests":   {spoil: status(429, "")},
		"it leads elsewhere":        {spoil: status(302, "")},
		"it leads elsewhere later":  {spoil: onlyAfter(1, status(307, "")), requests: 2},
		"it fails on the way":       {spoil: onlyAfter(3, status(503, "")), requests: 2},
		"it shows a page":           {spoil: status(200, "<html>Sign in</html>")},
		"it answers with a list":    {spoil: status(200, `[{"retailPrice":1}]`)},
		"it writes prices as words": {spoil: status(200, `{"Items":[{"armSkuName":"`+simSize+`","retailPrice":"one"}]}`)},
		"it has infinite prices":    {spoil: status(200, `{"Items":[{"armSkuName":"`+simSize+`","retailPrice":1e999}]}`)},
		"it has dates of its own":   {spoil: status(200, `{"Items":[{"armSkuName":"`+simSize+`","effectiveStartDate":"soon"}]}`)},
		"its entries are null":      {spoil: status(200, `{"Items":[null, {}]}`), empty: true},
		"it says nothing":           {spoil: status(200, "")},
		"it says null":              {spoil: status(200, "null"), empty: true},
		"it's cut off":              {spoil: status(200, `{"Items":[`+good)},
		"a page never ends":         {spoil: stream(strings.Repeat(good, 1000), 0)},
		"it hangs":                  {spoil: hang, patience: 150 * time.Millisecond},
		"it hangs on the way":       {spoil: onlyAfter(3, hang), patience: time.Second, requests: 2},
		"it drips":                  {spoil: stream(good, 10*time.Millisecond), patience: 150 * time.Millisecond},
		"there are always more":     {spoil: endless(func(from int) int { return from + 3 }), requests: mostPricePages},
		"a page leads to itself":    {spoil: endless(func(from int) int { return max(from, 1) }), requests: mostPricePages},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := quick
			if c.patience > 0 {
				p.prices = c.patience
			}
			g, d := w.openPublic(t, p)
			if w.prices.spoil = c.spoil; c.down {
				d.down = "prices.azure.com:443"
			}
			began := time.Now()
			got, want := mustOffer(t, g), mustOffer(t, w.open(t))
			if !reflect.DeepEqual(got, want) || got.Currency != "" || len(got.Flavors) < 3 || len(got.Images) == 0 {
				t.Errorf("offers are %+v, want %+v", got, want)
			}
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("offers took %v", took)
			}
			if n := max(0, cmp.Or(c.requests, 1)); len(w.prices.asked()) != n {
				t.Errorf("%d requests, want %d: %v", len(w.prices.asked()), n, w.prices.asked())
			}
			if slices.ContainsFunc(d.hosts(), func(h string) bool { return strings.Contains(h, "elsewhere") }) {
				t.Errorf("connections to %v", d.hosts())
			}
			if _, err := g.retailPrices(t.Context()); (err == nil) != c.empty {
				t.Errorf("the list: %v", err)
			}
		})
	}
}

// Links to further pages are followed on the list's site only.
func TestLinksOfPricesStayThere(t *testing.T) {
	for link, ok := range map[string]bool{
		"https://prices.azure.com:443/api/retail/prices?%s":               true,
		"https://prices.azure.com/api/retail/prices?%s":                   true,
		"https://PRICES.azure.com/api/retail/prices?%s":                   false,
		"http://prices.azure.com/api/retail/prices?%s":                    false,
		"https://prices.azure.com:8443/api/retail/prices?%s":              false,
		"https://prices.azure.com.elsewhere.example/api/retail/prices?%s": false,
		"https://prices.azure.com@elsewhere.example/api/retail/prices?%s": false,
		"https://user:word@prices.azure.com/api/retail/prices?%s":         false,
		"https://management.azure.com/api/retail/prices?%s":               false,
		"https://169.254.169.254/api/retail/prices?%s":                    false,
		"https://prices.azure.com/api/retail/prices2?%s":                  false,
		"https://prices.azure.com/api/retail/../../admin?%s":              false,
		"//elsewhere.example/api/retail/prices?%s":                        false,
		"/api/retail/prices?%s":                                           false,
		"file:///etc/passwd?%s":                                           false,
		"https://prices.azure.com/%%zz?%s":                                false,
	} {
		w := newWorld(t)
		g, d := w.openPublic(t, quick)
		w.prices.spoil = func(rw http.ResponseWriter, r *http.Request, from int) bool {
			if from > 0 {
				return false
			}
			_, query, _ := strings.Cut(priceLink(r, 3), "?")
			answer(rw, 200, map[string]any{"Items": simList()[:3], "NextPageLink": fmt.Sprintf(link, query)})
			return true
		}
		prices, err := g.retailPrices(t.Context())
		if (err == nil) != ok || (len(prices) > 0) != ok {
			t.Errorf("%s: %v, %v", link, prices, err)
		}
		if n := len(w.prices.asked()); (n > 1) != ok {
			t.Errorf("%s: %d requests", link, n)
		}
		if hosts := d.hosts(); !reflect.DeepEqual(hosts, []string{"prices.azure.com:443"}) {
			t.Errorf("%s: connections to %v", link, hosts)
		}
	}
}

// A full page without a link isn't the last one; one that isn't full is.
func TestPricesWithoutLinks(t *testing.T) {
	for _, n := range []int{1998, 1999, 2000, 2001} {
		w := newWorld(t)
		g, _ := w.openPublic(t, quick)
		w.prices.page, w.prices.unlinked = fullPricePage, true
		w.prices.items = nil
		for i := range n {
			w.prices.items = append(w.prices.items, metered("Standard_X"+strconv.Itoa(i), float64(i+1)))
		}
		prices, err := g.retailPrices(t.Context())
		if err != nil || len(prices) != n || prices["standard_x"+strconv.Itoa(n-1)].Price != float64(n) {
			t.Errorf("%d prices of %d: %v", len(prices), n, err)
		}
		if asked := len(w.prices.asked()); asked != n/fullPricePage+1 {
			t.Errorf("%d requests for %d", asked, n)
		}
	}
}

// The functions in the filter aren't documented: without them the list is longer, and has the same prices.
func TestPricesWithARefusedFilter(t *testing.T) {
	w := newWorld(t)
	g, _ := w.openPublic(t, quick)
	want, err := g.retailPrices(t.Context())
	if err != nil || len(want) == 0 {
		t.Fatalf("%d prices: %v", len(want), err)
	}
	w.prices.spoil = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		refused := strings.Contains(r.URL.Query().Get("$filter"), "contains(")
		if refused {
			w.WriteHeader(http.StatusBadRequest)
		}
		return refused
	}
	if got, err := g.retailPrices(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%d prices of %d: %v", len(got), len(want), err)
	}
}

// A page as large as real ones are is read, one that's too large isn't.
func TestPricePagesAreBounded(t *testing.T) {
	for size, ok := range map[int]bool{2 << 20: true, longestPricePage: false} {
		w := newWorld(t)
		g, _ := w.openPublic(t, quick)
		w.prices.page = 1000
		w.prices.items = append(w.prices.items, metered("Standard_X", 1, "location", strings.Repeat("x", size)))
		if prices, err := g.retailPrices(t.Context()); (err == nil) != ok || (len(prices) > 0) != ok {
			t.Errorf("of %d bytes: %v, %v", size, prices, err)
		}
	}
}

func TestWhichMeterCounts(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	is := func(price float64, changes ...any) simMeter { return metered("Standard_D2s_v5", price, changes...) }
	product := func(name string) simMeter { return is(0.2, "productName", name) }
	start := func(day string) []any { return []any{"effectiveStartDate", day + "T00:00:00Z"} }
	for name, c := range map[string]struct {
		items []simMeter
		want  float64
	}{
		"the only one":              {[]simMeter{is(0.115)}, 0.115},
		"none":                      {nil, 0},
		"the location's own":        {[]simMeter{is(0.2, "isPrimaryMeterRegion", false), is(0.1), is(0.3, "isPrimaryMeterRegion", false)}, 0.1},
		"a copy if there's no own":  {[]simMeter{is(0.2, "isPrimaryMeterRegion", false)}, 0.2},
		"a copy without the field":  {[]simMeter{is(0.2, "isPrimaryMeterRegion", nil)}, 0.2},
		"the own, though it's old":  {[]simMeter{is(0.2, "isPrimaryMeterRegion", false), is(0.1, start("2019-01-01")...)}, 0.1},
		"the latest":                {[]simMeter{is(0.1, start("2026-04-01")...), is(0.3, start("2021-01-01")...), is(0.2, start("2025-12-31")...)}, 0.1},
		"the one that holds now":    {[]simMeter{is(0.1, start("2026-04-01")...), is(0.3, start("2026-06-01")...)}, 0.1},
		"none that holds yet":       {[]simMeter{is(0.3, start("2026-06-01")...)}, 0},
		"none without a beginning":  {[]simMeter{is(0.3, "effectiveStartDate", nil), is(0.3, "effectiveStartDate", "0001-01-01T00:00:00Z")}, 0},
		"from this moment":          {[]simMeter{is(0.3, "effectiveStartDate", now.Format(time.RFC3339))}, 0.3},
		"the dearest":               {[]simMeter{is(0.1), is(0.3), is(0.2)}, 0.3},
		"the same twice":            {[]simMeter{is(0.1), is(0.1)}, 0.1},
		"letters don't matter":      {[]simMeter{metered("STANDARD_d2S_V5", 0.1)}, 0.1},
		"small series":              {[]simMeter{is(0.1, "productName", "Virtual Machines Dsv7-series Linux"), product("Virtual Machines Dsv7-series Windows")}, 0.1},
		"no Windows":                {[]simMeter{product("Virtual Machines D Series Windows"), product("Virtual Machines D Srs Win")}, 0},
		"no Windows in capitals":    {[]simMeter{product("VIRTUAL MACHINES D SERIES WINDOWS")}, 0},
		"no spot":                   {[]simMeter{is(0.2, "skuName", "D2s v5 Spot"), is(0.2, "meterName", "D2s v5/D2as v5 spot")}, 0},
		"no low priority":           {[]simMeter{is(0.2, "skuName", "D2s v5 Low Priority"), is(0.2, "meterName", "D2s v5 low priority")}, 0},
		"nothing that has expired":  {[]simMeter{is(0.2, "meterName", "D2s v5 - Expired")}, 0},
		"no reservation":            {[]simMeter{is(1200, "type", "Reservation"), is(1200, "reservationTerm", "3 Years")}, 0},
		"no price of developers":    {[]simMeter{is(0.2, "type", "DevTestConsumption"), is(0.2, "type", nil)}, 0},
		"no cloud service":          {[]simMeter{product("Virtual Machines D Series Cloud Services"), product("Virtual Machines Dsv5 Series CloudServices")}, 0},
		"no product of another way": {[]simMeter{product("Dsv5 Series Something"), product("Linux"), is(0.2, "productName", nil)}, 0},
		"no other unit":             {[]simMeter{is(0.2, "unitOfMeasure", "1 Month"), is(0.2, "unitOfMeasure", "100 Hours"), is(0.2, "unitOfMeasure", "1 hour")}, 0},
		"no other currency":         {[]simMeter{is(0.2, "currencyCode", "EUR"), is(0.2, "currencyCode", nil)}, 0},
		"no other location":         {[]simMeter{is(0.2, "armRegionName", "westeurope2"), is(0.2, "armRegionName", "")}, 0},
		"no price of a tier":        {[]simMeter{is(0.2, "tierMinimumUnits", 100)}, 0},
		"no price of nothing":       {[]simMeter{is(0), is(-1), is(10_000), is(1e300)}, 0},
		"no nameless size":          {[]simMeter{metered("", 1, "skuName", "D2s v5"), is(1, "armSkuName", nil)}, 0},
		"a similar size":            {[]simMeter{metered("Standard_D2s_v5 Spot", 0.1), metered("Standard_D2s_v50", 0.1), metered("D2s_v5", 0.1)}, 0},
		"what fits among the rest":  {[]simMeter{is(0.2, "type", "Reservation"), is(0.1, start("2020-01-01")...), is(0.9, "productName", "D Series Windows")}, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			for range max(1, len(c.items)) { // in whatever order the list has them
				for range 2 {
					best, price := map[string]*meter{}, 0.0
					for _, m := range readMeters(c.items) {
						m.compete(best, simLocation, now)
					}
					if m := best["standard_d2s_v5"]; m != nil {
						price = m.Price
					}
					if price != c.want {
						t.Errorf("%v, want %v, of %v", price, c.want, c.items)
					}
					slices.Reverse(c.items)
				}
				if len(c.items) > 0 {
					c.items = append(c.items[1:], c.items[0])
				}
			}
		})
	}
}

// Only the public cloud is in the list. What's at another address may be another cloud.
func TestOtherCloudsHaveNoPrices(t *testing.T) {
	for _, more := range [][]string{{"cloud", "usgovernment"}, {"cloud", "china"}, {"api_url", "https://management.local.azurestack.external"}} {
		w := newWorld(t)
		g, d := w.openPublic(t, quick, more[:2]...)
		if more[0] == "api_url" {
			var err error
			if g, err = open(w.settings(more...), quick, g.transport); err != nil {
				t.Fatal(err)
			}
		}
		if prices, err := g.retailPrices(t.Context()); prices != nil || err != nil || len(d.hosts()) > 0 || len(w.prices.asked()) > 0 {
			t.Errorf("%v: %v, %v, connections to %v", more, prices, err, d.hosts())
		}
	}
}

// The list is reached as the account is: a tenant's through the dialer that guards it.
func TestPricesGoTheAccountsWay(t *testing.T) {
	w := newWorld(t)
	s := w.settings()
	delete(s, "api_url")
	refused := errors.New("not from here")
	var asked []string
	p, err := Open(s, account.Network{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		asked = append(asked, address)
		return nil, refused
	}})
	if err != nil {
		t.Fatal(err)
	}
	prices, err := p.(*group).retailPrices(t.Context())
	if prices != nil || !errors.Is(err, refused) || !reflect.DeepEqual(asked, []string{"prices.azure.com:443"}) {
		t.Errorf("%v, %v; asked for %v", prices, err, asked)
	}
}

// Offers that fail don't wait for prices, and the request for these ends.
func TestFailedOffersDontWaitForPrices(t *testing.T) {
	w := newWorld(t)
	began, ended := make(chan struct{}), make(chan struct{})
	w.prices.spoil = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		close(began)
		<-r.Context().Done()
		close(ended)
		return true
	}
	w.denied["GET skus"] = true
	patient := quick
	patient.prices = time.Hour
	g, d := w.openPublic(t, patient)
	d.hold = func(address string) {
		if address == "management.azure.com:443" {
			<-began
		}
	}
	if _, err := g.Offers(t.Context()); app.CodeOf(err) != app.ECredentials {
		t.Errorf("offers: %v", err)
	}
	<-ended
}
