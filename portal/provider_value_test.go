package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/family"
	"muster/app/file/catalog"
	"muster/app/providervalue"
	"muster/app/template"
	fakecloud "muster/providers/fake"
)

// What users set for a provider is asked for when they choose it, kept, replaced, and never shown again.
func TestProviderValuesOnPages(t *testing.T) {
	o := newFullSite(t)
	o.app.Catalog.Reader = catalog.NewReader(catalog.Options{}, appcatalog.Families{Providers: []family.Descriptor{fakecloud.Descriptor}})
	o.catalog.Providers["cloud"].Fields = []template.ProviderField{{Name: "account", Override: true, Label: "Your account"},
		{Name: "secret", Override: true, Required: true, Label: "Your key"}, {Name: "quota", Override: true}}
	ada := o.at("ada")
	page := ada.get("/clusters/new?template=web&size=1&provider_values.cloud.secret=open-sesame&provider_values.cloud.account=typed")
	page.reads(200, "Your settings for cloud", "Your account", "Your key", "Provider cloud needs your secret before")
	for _, bad := range []string{"open-sesame", `value="typed"`} {
		if strings.Contains(page.body, bad) {
			t.Errorf("a link sets %s", bad)
		}
	}
	if !strings.Contains(page.body, `name="provider_values.cloud.secret" type="password" value=""`) {
		t.Error("the key isn't asked for as a password")
	}
	in := page.fields()
	in.Set("name", "shop")
	in.Set("provider_values.cloud.account", "ada-own")
	in.Set("provider_values.cloud.quota", "many")
	in.Set("provider_values.cloud.secret", "open-sesame")
	answer := ada.post("/clusters", in)
	answer.reads(http.StatusUnprocessableEntity, "Quota must be a whole number")
	if strings.Contains(answer.body, "open-sesame") || !strings.Contains(answer.body, `value="ada-own"`) {
		t.Error("a typed key comes back, or what isn't secret doesn't")
	}
	in.Set("provider_values.cloud.quota", "3")
	in.Del("provider_values.cloud.secret")
	ada.post("/clusters", in).reads(http.StatusUnprocessableEntity, "needs your value for secret")
	in.Set("provider_values.cloud.secret", "open-sesame")
	if a := ada.post("/clusters", in); a.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	at := "/clusters/shop-1/provider-values"
	ada.get("/clusters/shop-1/manage").reads(200, "View provider values")
	show := ada.get(at)
	show.reads(200, "account opened with this cluster's own values", "Your key", "Save values")
	if strings.Contains(show.body, "open-sesame") || !strings.Contains(show.body, "Set. Leave empty to keep it") || !strings.Contains(show.body, `value="ada-own"`) {
		t.Error("the page shows the key, or not what isn't secret")
	}
	kept := func(name string) string {
		t.Helper()
		k, err := o.store.ProviderValues(t.Context(), app.DefaultTenant, "shop-1")
		if err != nil || k == nil {
			t.Fatal(k, err)
		}
		return k.Values[name]
	}
	form := show.fields()
	ada.post(at, form).reads(http.StatusUnprocessableEntity, "Nothing was changed")
	form.Set("value.secret", "another")
	form.Set("value.quota", "")
	if a := ada.post(at, form); a.status != http.StatusSeeOther || kept("secret") != "another" || kept("account") != "ada-own" || kept("quota") != "" {
		t.Errorf("%d: %q %q %q", a.status, kept("secret"), kept("account"), kept("quota"))
	}
	ada.post(at, url.Values{"value.quota": {"x"}}).reads(http.StatusUnprocessableEntity, "Quota must be a whole number")

	// Over REST, and only for those who may change the cluster.
	put := func(user string, values providervalue.Values, out any) (int, http.Header) {
		return o.api(user, http.MethodPut, "/clusters/shop-1/provider-values", providervalue.Change{Values: values}, out)
	}
	var v providervalue.View
	if status, _ := put("ada", providervalue.Values{"secret": "third"}, &v); status != 200 || kept("secret") != "third" {
		t.Errorf("%d, %q", status, kept("secret"))
	}
	for _, x := range v.Values {
		if x.Name == "secret" && (!x.Set || x.Value != "") {
			t.Errorf("%+v", x)
		}
	}
	if status, _ := put("vic", providervalue.Values{"secret": "evil"}, nil); status != 404 && status != 403 {
		t.Errorf("a viewer is answered %d", status)
	}
	if status, _ := put("ada", providervalue.Values{"account": "", "secret": ""}, nil); status == 200 {
		t.Error("the account was taken away")
	}
}
