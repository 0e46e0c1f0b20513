package slack

import (
	"net/url"
	"strings"

	"muster/app"
)

// StandardAPI is where Slack's methods are called unless a setting says otherwise.
const StandardAPI = "https://slack.com/api/"

// CheckAPI reads the address of Slack's API, such as https://slack-gov.com/api for GovSlack. Tokens and what people say go there, so it
// must be https, except on this host itself.
func CheckAPI(address string) (string, error) {
	if address == "" {
		return StandardAPI, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", &app.Error{Code: app.EInvalid, Message: "Slack's API address must be a URL.", Hint: "Example: https://slack-gov.com/api/"}
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return "", &app.Error{Code: app.EInvalid, Message: "Slack's API address must start with https://.", Hint: "http:// is allowed for this host only, such as http://127.0.0.1:8000/api/."}
	}
	return strings.TrimRight(u.String(), "/") + "/", nil
}

// authorizePage is where admins of workspaces consent to an installation, at the host of the API.
func (oa *oauth) authorizePage() string {
	u, err := url.Parse(oa.apiURL)
	if err != nil {
		u = &url.URL{Scheme: "https", Host: "slack.com"}
	}
	return u.Scheme + "://" + u.Host + "/oauth/v2/authorize"
}

// answersAt tells whether an address is one at which Slack takes answers that come later: at Slack's own hosts for that, and, where
// the API is elsewhere, at the API's host.
func (ba *base) answersAt(address *url.URL) bool {
	if address.Scheme == "https" && answerHosts[address.Host] {
		return true
	}
	api, err := url.Parse(ba.apiURL)
	return err == nil && ba.apiURL != StandardAPI && address.Scheme == api.Scheme && address.Host == api.Host
}
