package wire

import (
	"net/http"

	"muster/app"
)

// CodeOfStatus returns the code for a status from 400 on without a code of its own, from the REST framework or a proxy.
func CodeOfStatus(status int) app.Code {
	switch status {
	case http.StatusUnauthorized:
		return app.EUnauthorized
	case http.StatusForbidden:
		return app.EForbidden
	case http.StatusNotFound:
		return app.ENotFound
	case http.StatusRequestTimeout:
		return app.ETimeout // the sender was too slow; a retry won't help
	case http.StatusConflict, http.StatusPreconditionFailed:
		return app.EConflict
	case http.StatusRequestEntityTooLarge:
		return app.ETooLarge
	case http.StatusTooManyRequests:
		return app.ERateLimit
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return app.ETransient // a proxy couldn't reach the server; a retry may help
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return app.EInvalid
	}
	return app.EInternal
}
