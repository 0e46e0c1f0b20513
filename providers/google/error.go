package google

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"cloud.google.com/go/auth"

	"muster/app"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
)

// comeBack is when to ask again where the cloud does not say: its rates are counted by the minute.
const comeBack = 20 * time.Second

// coded returns an answer's error its code. What never was an answer goes up as it is.
func coded(err error) error {
	var login *auth.Error
	var answer *gcp.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &login):
		return refusedLogin(login)
	case !errors.As(err, &answer):
		return err
	}
	e := account.Status(answer.Status, answer.Header, answer.Message)
	reason, detail := answer.Reason, answer.Detail
	switch {
	case reason == "accessNotConfigured", detail == "SERVICE_DISABLED":
		e.Code, e.Reason, e.RetryAfter = app.ECredentials, "api_disabled", 0
		e.Hint = "Enable the Compute Engine API for the project: gcloud services enable compute.googleapis.com"
	case reason == "rateLimitExceeded", reason == "userRateLimitExceeded", reason == "concurrentLimitExceeded", detail == "RATE_LIMIT_EXCEEDED":
		e.Code, e.RetryAfter = app.ERateLimit, max(e.RetryAfter, account.RetryAfter(answer.Header, time.Now()))
	case reason == "dailyLimitExceeded":
		e.Code, e.RetryAfter = app.ERateLimit, time.Hour
	case reason == "quotaExceeded":
		e.Code = app.EQuota
	case reason == "resourceNotReady", reason == "resourceInUseByAnotherResource", reason == "conditionNotMet", reason == "backendError", reason == "internalError",
		reason == "operationInProgress":
		e.Code = app.ETransient
	case answer.Status == http.StatusNotFound && reason != "notFound":
		// Not an answer of the API itself: a proxy, or an address that is wrong. It does not tell that something is gone.
		e.Code, e.Message = app.ETransient, "the API's address isn't a Compute API: it responded 404 without a reason"
		e.Hint = "Check the setting api_url."
	case e.Code == app.ECredentials && strings.Contains(strings.ToLower(answer.Message), "billing"):
		e.Reason, e.Hint = "billing", "Link the project to a billing account."
	}
	if e.Code == app.ERateLimit && e.RetryAfter == 0 {
		e.RetryAfter = comeBack
	}
	if permission := missing(answer.Message); e.Code == app.ECredentials && permission != "" {
		e.Reason, e.Hint = "permission", "Grant the service account a role with "+permission+"."
	} else if e.Code == app.ECredentials && e.Hint == "" {
		e.Hint = "Check the service account's key and its roles in the project."
	}
	if e.Code == app.EQuota {
		e.Hint = quotaHint
	}
	return e
}

const quotaHint = "Request a higher quota (IAM & Admin, Quotas), or delete machines that count toward it."

var permissionForm = regexp.MustCompile(`'([a-z]+\.[A-Za-z]+\.[A-Za-z]+)' permission|permission '([a-z]+\.[A-Za-z]+\.[A-Za-z]+)'`)

func missing(message string) string {
	if m := permissionForm.FindStringSubmatch(message); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// refusedLogin is the answer of where tokens are had. Its body is left out but for the description, which says what is wrong.
func refusedLogin(login *auth.Error) error {
	status, header := 0, http.Header(nil)
	if login.Response != nil {
		status, header = login.Response.StatusCode, login.Response.Header
	}
	if status == http.StatusTooManyRequests || status >= 500 || status == 0 {
		e := account.Status(max(status, 500), header, fmt.Sprintf("can't get a token for the service account: the response was %d", status))
		if status == http.StatusTooManyRequests {
			e.Code, e.RetryAfter = app.ERateLimit, max(account.RetryAfter(header, time.Now()), comeBack)
		}
		return e
	}
	e := app.Errorf(app.ECredentials, "Google rejected the service account's key")
	if d := descriptionForm.FindSubmatch(login.Body); d != nil {
		e.Message += ": " + string(d[1])
	}
	e.Hint = "Check that the service account and this key exist, and that the clock of Muster's host is correct."
	return e
}

var descriptionForm = regexp.MustCompile(`"error_description"\s*:\s*"([^"\\]{1,200})`)

// failed returns the error of an operation that ended with one.
func failed(code, message string, status int64) *app.Error {
	e := &app.Error{Code: app.EInternal, Message: message}
	if e.Message == "" {
		e.Message = "the operation failed with " + code
	}
	switch {
	case strings.Contains(code, "RESOURCE_POOL_EXHAUSTED"), strings.Contains(code, "STOCKOUT"), strings.HasPrefix(code, "IP_SPACE_EXHAUSTED"):
		e.Code, e.Hint = app.ECapacity, "Try another zone or machine type."
	case strings.HasPrefix(code, "QUOTA_"), code == "LIMIT_EXCEEDED":
		e.Code, e.Hint = app.EQuota, quotaHint
	case code == "RATE_LIMIT_EXCEEDED":
		e.Code, e.RetryAfter = app.ERateLimit, comeBack
	case code == "RESOURCE_NOT_FOUND":
		e.Code = app.ENotFound
	case code == "RESOURCE_ALREADY_EXISTS":
		e.Code = app.EConflict
	case code == "PERMISSIONS_ERROR", code == "PERMISSION_DENIED", code == "FORBIDDEN":
		e.Code, e.Hint = app.ECredentials, "Check the service account's roles in the project."
		if permission := missing(message); permission != "" {
			e.Hint = "Grant the service account a role with " + permission + "."
		}
	case strings.HasPrefix(code, "RESOURCE_IN_USE"), code == "RESOURCE_NOT_READY", strings.HasPrefix(code, "INTERNAL"), code == "BACKEND_ERROR",
		code == "RESOURCE_OPERATION_RATE_EXCEEDED", code == "CONDITION_NOT_MET":
		e.Code = app.ETransient
	case strings.HasPrefix(code, "INVALID"), strings.HasPrefix(code, "UNSUPPORTED"), strings.HasPrefix(code, "BAD_"):
		e.Code = app.EInvalid
	case status >= 400:
		s := account.Status(int(status), nil, message)
		e.Code, e.RetryAfter = s.Code, s.RetryAfter
		if e.Code == app.ERateLimit {
			e.RetryAfter = comeBack
		}
	}
	return e
}
