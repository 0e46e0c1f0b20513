package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	priceHost = "prices.azure.com"
	pricePath = "/api/retail/prices"
	// priceVersion is of 2023. Values of filters are case-sensitive in it.
	priceVersion = "2023-01-01-preview"
)

// What one look at the list may take. About 2,000 meters of a location pass the filter: two pages of 1 MB.
const (
	mostPricePages   = 20
	longestPricePage = 8 << 20
	fullPricePage    = 1000   // so many meters are on a page that isn't the last
	dearest          = 10_000 // dollars per hour: no machine is near that
)

// meter is an entry of the list: what something costs in a location.
type meter struct {
	Size     string  `json:"armSkuName"`
	SKU      string  `json:"skuName"`
	Name     string  `json:"meterName"`
	Product  string  `json:"productName"`
	Location string  `json:"armRegionName"`
	Type     string  `json:"type"`
	Term     string  `json:"reservationTerm"`
	Unit     string  `json:"unitOfMeasure"`
	Currency string  `json:"currencyCode"`
	Price    float64 `json:"retailPrice"`
	From     float64 `json:"tierMinimumUnits"`
	Starts   string  `json:"effectiveStartDate"`
	Primary  bool    `json:"isPrimaryMeterRegion"`

	starts time.Time
}

// retailPrices returns what Linux machines cost per hour in US dollars before discounts, by the size in small letters. It's all or nothing: part of
// a list could lack the meter that counts. Without an error and without prices, the list isn't for this account.
func (g *group) retailPrices(ctx context.Context) (map[string]float64, error) {
	if g.cloud != "public" || g.api != "" { // other clouds, and what may be one, have prices of their own
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.pauses.prices)
	defer cancel()
	// The filter only makes the list short: what is in it is looked at again. "not" and "ne" aren't understood.
	filter := "serviceName eq 'Virtual Machines' and armRegionName eq '" + g.location + "' and priceType eq 'Consumption'" +
		" and contains(productName, 'Windows') eq false and contains(meterName, 'Spot') eq false and contains(meterName, 'Low Priority') eq false"
	first := &url.URL{Scheme: "https", Host: priceHost, Path: pricePath, RawQuery: url.Values{"api-version": {priceVersion}, "$filter": {filter}}.Encode()}
	var all []meter
	for at, read, page := first, 0, 1; at != nil; page++ {
		if page > mostPricePages {
			return nil, fmt.Errorf("the list of prices has more than %d pages", mostPricePages)
		}
		meters, link, err := g.pricePage(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("page %d of the list of prices: %w", page, err)
		}
		all = append(all, slices.DeleteFunc(meters, func(m meter) bool { return !m.regular(g.location) })...)
		read += len(meters)
		if at, err = nextPrices(first, link, len(meters), read); err != nil {
			return nil, fmt.Errorf("page %d of the list of prices: %w", page, err)
		}
	}
	return pricesOf(all, time.Now()), nil
}

// pricePage returns the meters of a page, and the link to the next one. The request goes the way that those to Resource Manager go, so what holds for a
// tenant's account holds for it, too; but it has nothing of the account except its location.
func (g *group) pricePage(ctx context.Context, at *url.URL) ([]meter, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "muster")
	resp, err := g.web.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, "", errors.New(resp.Status)
	}
	var page struct {
		Items        []meter
		NextPageLink string
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, longestPricePage)).Decode(&page)
	return page.Items, page.NextPageLink, err
}

// nextPrices returns where the next page is, and nil after the last one. A link is followed on the list's own site only: no answer leads Muster
// elsewhere.
func nextPrices(first *url.URL, link string, meters, read int) (*url.URL, error) {
	u := *first
	q := first.Query()
	switch {
	case link == "" && meters < fullPricePage:
		return nil, nil
	case link == "": // such links were missing for a while in 2023
		q.Set("$skip", strconv.Itoa(read))
	default:
		next, err := url.Parse(link)
		if err != nil {
			return nil, err
		}
		port := cmp.Or(next.Port(), "443") // which links have
		if next.Scheme != "https" || !strings.EqualFold(next.Hostname(), priceHost) || port != "443" || next.User != nil || next.Path != pricePath {
			return nil, fmt.Errorf("the next one is at %.100q", link)
		}
		q = next.Query()
	}
	u.RawQuery = q.Encode()
	return &u, nil
}

// regular reports whether a meter is of a machine that is paid by the hour while it's there, in US dollars, and runs Linux. Reservations say "1 Hour", too.
func (m meter) regular(location string) bool {
	labels := strings.ToLower(m.SKU + "\n" + m.Name)
	for _, word := range []string{"spot", "low priority", "expired"} {
		if strings.Contains(labels, word) {
			return false
		}
	}
	return m.Location == location && m.Type == "Consumption" && m.Term == "" && m.Unit == "1 Hour" && m.Currency == "USD" &&
		m.From == 0 && m.Price > 0 && m.Price < dearest && linuxMachines(m.Product)
}

// linuxMachines reports whether a product is machines with Linux, such as "Virtual Machines Dsv5 Series" or "NCads A100 v4 Series Linux". Cloud services
// ("Dasv5 Series Cloud Services") have the same sizes at the price of Windows. A product of an unknown kind counts as another: no price is better than a
// wrong one.
func linuxMachines(product string) bool {
	p := strings.ToLower(product)
	other := strings.Contains(p, "windows") || strings.HasSuffix(p, " win") || strings.Contains(strings.ReplaceAll(p, " ", ""), "cloudservices")
	return !other && (strings.HasPrefix(p, "virtual machines ") || strings.HasSuffix(p, " linux"))
}

// pricesOf returns the price of each size. A size usually has one regular meter. Of several, the location's own counts before copies of other locations'
// meters (those aren't primary), then the one whose price is the latest in effect, then the dearest: a bill that is lower surprises no one.
func pricesOf(meters []meter, now time.Time) map[string]float64 {
	best := map[string]meter{}
	for _, m := range meters {
		var err error
		if m.starts, err = time.Parse(time.RFC3339, m.Starts); err != nil || m.starts.After(now) {
			continue
		}
		size := strings.ToLower(m.Size)
		if old, ok := best[size]; !ok || m.compare(old) > 0 {
			best[size] = m
		}
	}
	out := make(map[string]float64, len(best))
	for size, m := range best {
		out[size] = m.Price
	}
	return out
}

func (m meter) compare(o meter) int {
	if m.Primary != o.Primary {
		if m.Primary {
			return 1
		}
		return -1
	}
	return cmp.Or(m.starts.Compare(o.starts), cmp.Compare(m.Price, o.Price))
}
