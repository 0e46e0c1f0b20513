package wire

import (
	"net/http"

	"muster/app"
)

// CodeOfStatus returns the code of a refusal that names none itself: of the REST API's own framework, or of a proxy before the server. Statuses from 400 on.
func CodeOfStatus(status int) app.Code {
	switch status {
	case http.StatusUnauthorized:
		return app.EUnauthorized
	case http.StatusForbidden:
		return app.EForbidden
	case http.StatusNotFound:
		return app.ENotFound
	case http.StatusRequestTimeout:
		return app.ETimeout // the sender was too slow, and will be again
	case http.StatusConflict, http.StatusPreconditionFailed:
		return app.EConflict
	case http.StatusRequestEntityTooLarge:
		return app.ETooLarge
	case http.StatusTooManyRequests:
		return app.ERateLimit
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return app.ETransient // a proxy could not reach the server, which is a matter of time
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return app.EInvalid
	}
	return app.EInternal
}
