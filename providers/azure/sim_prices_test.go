package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// simPrices is the simulated list of retail prices. It refuses what its documentation doesn't have, and what people report that it refuses; and it notes
// what Muster must not tell a public site. Its entries have all fields of real ones, and are as untidy.
type simPrices struct {
	mu       sync.Mutex
	items    []simMeter
	page     int  // entries on a page
	unlinked bool // the first pages have no link to the next, as in March 2023
	spoil    func(w http.ResponseWriter, r *http.Request, from int) bool
	requests []string
	wrong    []string
}

type simMeter map[string]any

// metered returns an entry for a size. Changes are pairs of a field and its value; nil removes it.
func metered(size string, price float64, changes ...any) simMeter {
	sku := strings.ReplaceAll(strings.TrimPrefix(size, "Standard_"), "_", " ")
	m := simMeter{"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": price, "unitPrice": price, "armRegionName": simLocation, "location": "EU West",
		"effectiveStartDate": "2024-03-01T00:00:00Z", "meterId": "d8a5f8a2-9d3e-5c6f-8f3e-0a1b2c3d4e5f", "meterName": sku, "productId": "DZH318Z0BQ35",
		"skuId": "DZH318Z0BQ35/00GN", "productName": "Virtual Machines " + sku + " Series", "skuName": sku, "serviceName": "Virtual Machines",
		"serviceId": "DZH313Z7MMC8", "serviceFamily": "Compute", "unitOfMeasure": "1 Hour", "type": "Consumption", "isPrimaryMeterRegion": true, "armSkuName": size,
		"savingsPlan": []map[string]any{{"unitPrice": price / 2, "retailPrice": price / 2, "term": "3 Years"}}}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == nil {
			delete(m, changes[i].(string))
		} else {
			m[changes[i].(string)] = changes[i+1]
		}
	}
	return m
}

// simList is what the list has of the simulated sizes: one right price of each, and the kinds of entries that are around it.
func simList() []simMeter {
	return []simMeter{
		metered(simSize, 0.0918, "productName", "Virtual Machines BS Series Windows"),
		metered(simSize, 0.0083, "skuName", "B2s Spot", "meterName", "B2s Spot"),
		metered(simSize, 0.0096, "skuName", "B2s Low Priority", "meterName", "B2s Low Priority"),
		metered(simSize, 0.048, "productName", "Virtual Machines BS Series"),
		metered(simSize, 265, "type", "Reservation", "reservationTerm", "1 Year"),
		metered(simSize, 0.03, "type", "DevTestConsumption"),
		metered(simSize, 0.039, "armRegionName", "eastus", "location", "US East"),
		metered(simSize, 0.06, "productName", "BS Series Cloud Services"),
		metered("Standard_D4s_v5", 0.424, "productName", "Virtual Machines Dsv5 Series Windows"),
		metered("Standard_D4s_v5", 0.23, "productName", "Virtual Machines Dsv5 Series"),
		metered("Standard_D4s_v5", 0.404, "productName", "Dsv5 Series CloudServices"),
		metered("DSv5_Type1", 5.3, "productName", "Dsv5 Series Dedicated Host"),
		metered("standard_b2ts_v2", 0.0105, "productName", "Virtual Machines Bsv2 Series"),
		metered("", 0.01, "productName", "Virtual Machines", "skuName", "Nameless"),
	}
}

var (
	priceFields = map[string]string{"armRegionName": "armRegionName", "location": "location", "meterId": "meterId", "meterName": "meterName",
		"productId": "productId", "skuId": "skuId", "productName": "productName", "skuName": "skuName", "serviceName": "serviceName",
		"serviceId": "serviceId", "serviceFamily": "serviceFamily", "priceType": "type", "armSkuName": "armSkuName"}
	priceEqual = regexp.MustCompile(`^(\w+) eq '([^']*)'$`)
	priceHas   = regexp.MustCompile(`^contains\((\w+), '([^']*)'\) eq (true|false)$`)
)

func (p *simPrices) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests = append(p.requests, r.URL.RequestURI())
	for name, values := range r.Header {
		if !slices.Contains([]string{"Accept", "Accept-Encoding", "User-Agent"}, name) {
			p.wrong = append(p.wrong, "the list of prices is sent "+name)
		}
		for _, secret := range []string{simDirectory, simClient, simSecret, simSubscription, simGroup} {
			if strings.Contains(strings.Join(values, "\n")+r.URL.String(), secret) {
				p.wrong = append(p.wrong, "the list of prices gets "+secret)
			}
		}
	}
	chosen, from, err := p.choose(r)
	spoil, page, unlinked := p.spoil, p.page, p.unlinked
	p.mu.Unlock()
	if spoil != nil && spoil(w, r, from) {
		return
	}
	if err != nil {
		p.mu.Lock()
		p.wrong = append(p.wrong, err.Error())
		p.mu.Unlock()
		answer(w, http.StatusBadRequest, map[string]any{"Error": map[string]any{"Code": "BadRequest", "Message": err.Error()}})
		return
	}
	to := min(from+page, len(chosen))
	var next any // null after the last page
	if to < len(chosen) && !unlinked {
		next = priceLink(r, to)
	}
	answer(w, http.StatusOK, map[string]any{"BillingCurrency": "USD", "CustomerEntityId": "Default", "CustomerEntityType": "Retail",
		"Items": append([]simMeter{}, chosen[min(from, to):to]...), "NextPageLink": next, "Count": to - min(from, to)})
}

// priceLink is the link to the page that begins at an entry, in the form that the real site writes: with a port.
func priceLink(r *http.Request, to int) string {
	filter := strings.ReplaceAll(url.QueryEscape(r.URL.Query().Get("$filter")), "+", "%20")
	return fmt.Sprintf("https://prices.azure.com:443/api/retail/prices?api-version=%s&$filter=%s&$skip=%d", r.URL.Query().Get("api-version"), filter, to)
}

// choose returns the entries that a request asks for, and which of them is the page's first.
func (p *simPrices) choose(r *http.Request) (chosen []simMeter, from int, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case err != nil:
		return nil, 0, err
	case r.Method != http.MethodGet || r.URL.Path != "/api/retail/prices" || r.ContentLength > 0:
		return nil, 0, fmt.Errorf("the list of prices has no %s %s", r.Method, r.URL.Path)
	case q.Get("api-version") != "2023-01-01-preview":
		return nil, 0, fmt.Errorf("prices of version %q", q.Get("api-version"))
	}
	for name, values := range q {
		if !slices.Contains([]string{"api-version", "$filter", "$skip"}, name) || len(values) != 1 {
			return nil, 0, fmt.Errorf("prices with %s=%v", name, values)
		}
	}
	if skip := q.Get("$skip"); skip != "" {
		if from, err = strconv.Atoi(skip); err != nil || from < 1 {
			return nil, 0, fmt.Errorf("prices with $skip=%s", skip)
		}
	}
	chosen = slices.Clone(p.items)
	for _, part := range strings.Split(q.Get("$filter"), " and ") {
		var keep func(m simMeter) bool
		if e := priceEqual.FindStringSubmatch(part); e != nil && priceFields[e[1]] != "" {
			keep = func(m simMeter) bool { return m[priceFields[e[1]]] == e[2] }
		} else if h := priceHas.FindStringSubmatch(part); h != nil && priceFields[h[1]] != "" {
			keep = func(m simMeter) bool {
				return strings.Contains(m[priceFields[h[1]]].(string), h[2]) == (h[3] == "true")
			}
		} else {
			return nil, 0, fmt.Errorf("prices can't be filtered by %q", part)
		}
		chosen = slices.DeleteFunc(chosen, func(m simMeter) bool { return !keep(m) })
	}
	return chosen, from, nil
}

// asked returns the requests so far.
func (p *simPrices) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// readMeters has entries take the way that they take over the wire.
func readMeters(items []simMeter) (out []meter) {
	b, _ := json.Marshal(items)
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}
