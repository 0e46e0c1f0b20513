package trace

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"muster/app"
)

// defaultTimeout is the one that the specification of OTLP exporters names.
const defaultTimeout = 10 * time.Second

// settings are what OpenTelemetry's variables say of an export.
type settings struct {
	header  http.Header
	tls     *tls.Config // nil: none of their own
	timeout time.Duration
	gzip    bool
}

// variable looks up one of OpenTelemetry's variables. That for traces counts before that for all signals.
func variable(suffix string) (name, value string) {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
		name = prefix + suffix
		if value = strings.TrimSpace(os.Getenv(name)); value != "" {
			return name, value
		}
	}
	return name, ""
}

// readSettings reads the variables. What is wrong with one is EInvalid: whoever starts Muster would otherwise wait for spans in vain.
func readSettings(secure bool) (s settings, err error) {
	if s.header, err = readHeaders(); err != nil {
		return s, err
	}
	if s.tls, err = readTLS(secure); err != nil {
		return s, err
	}
	s.timeout = defaultTimeout
	if name, v := variable("TIMEOUT"); v != "" {
		n, err := strconv.ParseUint(v, 10, 31)
		if err != nil || n == 0 {
			return s, app.Errorf(app.EInvalid, "%s must be a number of milliseconds greater than 0, not %q.", name, v)
		}
		s.timeout = time.Duration(n) * time.Millisecond
	}
	switch name, v := variable("COMPRESSION"); v {
	case "gzip":
		s.gzip = true
	case "", "none":
	default:
		return s, app.Errorf(app.EInvalid, "%s must be gzip or none, not %q.", name, v)
	}
	return s, nil
}

// readHeaders reads pairs such as "api-key=secret,tenant=a%20b". Errors do not repeat them, since they hold secrets.
func readHeaders() (http.Header, error) {
	all := http.Header{}
	name, list := variable("HEADERS")
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !httpguts.ValidHeaderFieldName(key) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, &app.Error{Code: app.EInvalid, Message: name + " is not a list of HTTP headers.",
				Hint: "It looks like name=value,name=value. Write commas, percent signs and spaces in values as %2C, %25 and %20."}
		}
		all.Set(key, value)
	}
	return all, nil
}

func readTLS(secure bool) (*tls.Config, error) {
	ca, caFile := variable("CERTIFICATE")
	cert, certFile := variable("CLIENT_CERTIFICATE")
	key, keyFile := variable("CLIENT_KEY")
	switch {
	case caFile == "" && certFile == "" && keyFile == "":
		return nil, nil
	case certFile == "" && keyFile != "":
		return nil, app.Errorf(app.EInvalid, "%s is set, but %s is not.", key, cert)
	case certFile != "" && keyFile == "":
		return nil, app.Errorf(app.EInvalid, "%s is set, but %s is not.", cert, key)
	case !secure && caFile != "":
		return nil, app.Errorf(app.EInvalid, "%s is set, but the address of the OTLP collector does not begin with https://.", ca)
	case !secure:
		return nil, app.Errorf(app.EInvalid, "%s is set, but the address of the OTLP collector does not begin with https://.", cert)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, app.Errorf(app.EInvalid, "The file that %s names cannot be read: %w", ca, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, app.Errorf(app.EInvalid, "The file that %s names, %s, holds no certificate in PEM.", ca, caFile)
		}
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, app.Errorf(app.EInvalid, "The client certificate that %s and %s name cannot be used: %w", cert, key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
