package azure

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The list of Microsoft's retail prices is for everyone, without sign-in. It has the public cloud only; Resource Manager has no prices.
const (
	priceList  = "https://prices.azure.com/api/retail/prices?"
	priceLinks = "https://prices.azure.com:443/api/retail/prices?" // how it links to itself
	// priceVersion is of 2023. Values of filters are case-sensitive in it.
	priceVersion = "2023-01-01-preview"
)

// What one look at the list may take. About 2,000 meters of a location pass the longer filter: two pages of 1 MB.
const (
	mostPricePages   = 20
	longestPricePage = 8 << 20
	fullPricePage    = 1000   // so many meters are on a page that isn't the last
	dearest          = 10_000 // dollars per hour: no machine is near that
)

// meter is an entry of the list: what something costs in a location.
type meter struct {
	Size     string    `json:"armSkuName"`
	SKU      string    `json:"skuName"`
	Name     string    `json:"meterName"`
	Product  string    `json:"productName"`
	Location string    `json:"armRegionName"`
	Type     string    `json:"type"`
	Term     string    `json:"reservationTerm"`
	Unit     string    `json:"unitOfMeasure"`
	Currency string    `json:"currencyCode"`
	Price    float64   `json:"retailPrice"`
	From     float64   `json:"tierMinimumUnits"`
	Starts   time.Time `json:"effectiveStartDate"`
	Primary  bool      `json:"isPrimaryMeterRegion"`
}

type pricePage struct {
	Items        []meter
	NextPageLink string
}

// errPrices says that the list of prices isn't what it should be.
var errPrices = errors.New("unexpected list of prices")

// errPriceFilter says that the list didn't accept the filter.
var errPriceFilter = errors.New("unexpected answer to a filter of prices")

// retailPrices returns meters with what Linux machines cost per hour in US dollars before discounts, by the size in small letters. It's all or nothing:
// part of a list could lack the meter that counts. Without an error and without prices, the list isn't for this account.
func (g *group) retailPrices(ctx context.Context) (map[string]*meter, error) {
	if g.cloud != "public" || g.api != "" { // other clouds, and what may be one, have prices of their own
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.pauses.prices)
	defer cancel()
	// The filters only make the list short: what is in it is looked at again. "not" and "ne" aren't understood, and functions aren't documented.
	filter := "serviceName eq 'Virtual Machines' and armRegionName eq '" + g.location + "' and priceType eq 'Consumption'"
	best, err := filteredPrices(ctx, g, filter+
		" and contains(productName, 'Windows') eq false and contains(meterName, 'Spot') eq false and contains(meterName, 'Low Priority') eq false")
	if errors.Is(err, errPriceFilter) {
		best, err = filteredPrices(ctx, g, filter)
	}
	return best, err
}

func filteredPrices(ctx context.Context, g *group, filter string) (map[string]*meter, error) {
	first := url.Values{"api-version": {priceVersion}, "$filter": {filter}}
	best, now, read := map[string]*meter{}, time.Now(), 0
	for query, pages := first, 0; query != nil; pages++ {
		if pages == mostPricePages {
			return nil, errPrices
		}
		page, err := g.pricePage(ctx, query)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			page.Items[i].compete(best, g.location, now)
		}
		read += len(page.Items)
		switch {
		case page.NextPageLink != "":
			if query = linked(page.NextPageLink); query == nil {
				return nil, errPrices
			}
		case len(page.Items) < fullPricePage:
			query = nil
		default: // links were missing for a while in 2023
			first.Set("$skip", strconv.Itoa(read))
			query = first
		}
	}
	return best, nil
}

// pricePage returns a page of the list. The request goes the way that those to Resource Manager go, so what holds for a tenant's account holds for it, too;
// but it has nothing of the account except its location.
func (g *group) pricePage(ctx context.Context, query url.Values) (page pricePage, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, priceList+query.Encode(), nil)
	if err != nil {
		return page, err
	}
	req.Header.Set("User-Agent", "muster")
	resp, err := g.web.Do(req)
	if err != nil {
		return page, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest:
		return page, errPriceFilter
	default:
		return page, errPrices
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, longestPricePage)).Decode(&page)
	return page, err
}

// linked returns the query of a link to the next page, and nil if the link leads anywhere but to the list: no answer sends Muster elsewhere.
func linked(link string) url.Values {
	query, ok := strings.CutPrefix(link, priceLinks)
	if !ok {
		query, ok = strings.CutPrefix(link, priceList)
	}
	values, err := url.ParseQuery(query)
	if !ok || err != nil {
		return nil
	}
	return values
}

// compete puts a meter in the place of its size if it's regular. A size usually has one such meter. Of several, the location's own counts before copies of
// other locations' meters (those aren't primary), then the one whose price is the latest in effect, then the dearest: a bill that is lower surprises no one.
func (m *meter) compete(best map[string]*meter, location string, now time.Time) {
	size := strings.ToLower(m.Size)
	if !m.regular(location) || m.Starts.IsZero() || m.Starts.After(now) {
		return
	}
	old := best[size]
	switch {
	case old == nil:
	case m.Primary != old.Primary:
		if old.Primary {
			return
		}
	case m.Starts.Before(old.Starts) || m.Starts.Equal(old.Starts) && m.Price < old.Price:
		return
	}
	best[size] = m
}

// irregular are words of meters and products that aren't of machines with Linux paid as they're used. Cloud services ("Dasv5 Series Cloud Services") have
// the same sizes as machines, at the price of Windows.
var irregular = []string{"spot", "low priority", "expired", "windows", " win\n", "cloud services", "cloudservices"}

// regular reports whether a meter is of a machine that is paid by the hour while it's there, in US dollars, and runs Linux. Reservations say "1 Hour", too.
// Products are such as "Virtual Machines Dsv5 Series" or "NCads A100 v4 Series Linux". Those of an unknown kind don't count: no price is
// better than a wrong one.
func (m *meter) regular(location string) bool {
	text := strings.ToLower(m.SKU + "\n" + m.Name + "\n" + m.Product + "\n")
	if slices.ContainsFunc(irregular, func(word string) bool { return strings.Contains(text, word) }) {
		return false
	}
	return m.Location == location && m.Type == "Consumption" && m.Term == "" && m.Unit == "1 Hour" && m.Currency == "USD" && m.From == 0 &&
		m.Price > 0 && m.Price < dearest && (strings.HasPrefix(m.Product, "Virtual Machines ") || strings.HasSuffix(m.Product, " Linux"))
}
