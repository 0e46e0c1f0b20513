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

// settings are the export settings from OpenTelemetry's variables.
type settings struct {
	header  http.Header
	tls     *tls.Config // nil: the default
	timeout time.Duration
	gzip    bool
}

// variable looks up one of OpenTelemetry's variables. The one for traces overrides the one for all signals.
func variable(suffix string) (name, value string) {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
		name = prefix + suffix
		if value = strings.TrimSpace(os.Getenv(name)); value != "" {
			return name, value
		}
	}
	return name, ""
}

// readSettings reads the variables. An invalid one is EInvalid: otherwise spans would silently get lost.
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

// readHeaders reads pairs such as "api-key=secret,tenant=a%20b". Errors don't repeat them, since they're secret.
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
			return nil, &app.Error{Code: app.EInvalid, Message: name + " isn't a list of HTTP headers.",
				Hint: "Use name=value,name=value. In values, write commas, percent signs and spaces as %2C, %25 and %20."}
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
		return nil, app.Errorf(app.EInvalid, "%s is set, but the OTLP collector's URL doesn't start with https://.", ca)
	case !secure:
		return nil, app.Errorf(app.EInvalid, "%s is set, but the OTLP collector's URL doesn't start with https://.", cert)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, app.Errorf(app.EInvalid, "Can't read the file in %s: %w", ca, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, app.Errorf(app.EInvalid, "The file in %s, %s, doesn't contain a PEM certificate.", ca, caFile)
		}
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, app.Errorf(app.EInvalid, "The client certificate in %s and %s can't be used: %w", cert, key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
