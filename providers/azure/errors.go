package azure

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"muster/app"
	"muster/providers/internal/account"
)

const (
	hintRole   = "Give the app registration the roles in docs/providers/azure.md. A new assignment takes a few minutes."
	hintQuota  = "Request a higher quota in the Azure portal (Quotas), or delete machines that count toward it."
	hintPlace  = "Try another zone, size or location."
	hintSecret = "Create a client secret for the app registration, and save its value (not its ID) as client_secret."
	// comeBack is when to ask again where Azure does not say.
	comeBack = 20 * time.Second
)

// kinds are Azure's error codes that mean something else than their status, by ours.
var kinds = map[app.Code][]string{
	app.ECapacity: {"SkuNotAvailable", "AllocationFailed", "ZonalAllocationFailed", "OverconstrainedAllocationRequest", "OverconstrainedZonalAllocationRequest",
		"AllocationTimeout", "SubnetIsFull"},
	app.EQuota:    {"QuotaExceeded", "ResourceQuotaExceeded", "PublicIPCountLimitReached", "StandardSkuPublicIPCountLimitReached"},
	app.ENotFound: {"ResourceNotFound", "NotFound"},
	app.ETransient: {"AnotherOperationInProgress", "RetryableError", "RetryableErrorDueToAnotherOperation", "Conflict", "NicReservedForAnotherVm", "NicInUse",
		"PublicIPAddressCannotBeDeleted", "InUseNetworkSecurityGroupCannotBeDeleted", "ReferencedResourceNotProvisioned", "OperationPreempted", "Canceled",
		"InternalExecutionError", "InternalServerError", "OSProvisioningTimedOut", "OSProvisioningInternalError", "NetworkingInternalOperationError",
		"InternalOperationError", "VMStartTimedOut", "AttachDiskWhileBeingDetached"},
	app.ECredentials: {"AuthorizationFailed", "LinkedAuthorizationFailed", "InvalidAuthenticationToken", "InvalidAuthenticationTokenTenant",
		"ExpiredAuthenticationToken", "SubscriptionNotFound", "InvalidSubscriptionId", "ReadOnlyDisabledSubscription", "DisabledSubscription"},
	app.EInvalid: {"ResourceGroupNotFound", "RequestDisallowedByPolicy", "MissingSubscriptionRegistration", "MarketplacePurchaseEligibilityFailed",
		"VMMarketplaceInvalidInput", "ScopeLocked"},
}

// hints say what to do about some of them.
var hints = map[string]string{
	"RequestDisallowedByPolicy":            "An Azure Policy of the subscription forbids it. Change the settings, or ask for an exemption.",
	"MissingSubscriptionRegistration":      "Run az provider register --namespace Microsoft.Compute, and the same for Microsoft.Network.",
	"MarketplacePurchaseEligibilityFailed": "Use an image without a purchase plan.",
	"VMMarketplaceInvalidInput":            "Use an image without a purchase plan.",
	"ResourceGroupNotFound":                "Create the resource group, or correct the setting resource_group.",
	"SubscriptionNotFound":                 "Check subscription_id, and that the app registration has a role in it.",
	"InvalidSubscriptionId":                "Check subscription_id.",
	"InvalidAuthenticationTokenTenant":     "The subscription belongs to another directory: check directory_id and subscription_id.",
	"ReadOnlyDisabledSubscription":         "The subscription is disabled: check its billing in the Azure portal.",
	"DisabledSubscription":                 "The subscription is disabled: check its billing in the Azure portal.",
	"ScopeLocked":                          "Remove the lock from the resource group: Muster must be able to delete what it created.",
	"SubnetIsFull":                         "Use a larger subnet, or delete machines in it.",
}

// coded returns an answer's error its code. What never was an answer goes up as it is.
func coded(err error) error {
	var e *app.Error
	var answer *azcore.ResponseError
	var login *azidentity.AuthenticationFailedError
	switch {
	case err == nil, errors.As(err, &e):
		return err
	case errors.As(err, &login):
		return refusedLogin(login)
	case errors.As(err, &answer):
		var header http.Header
		message := ""
		if answer.RawResponse != nil {
			header, message = answer.RawResponse.Header, messageOf(answer.RawResponse)
		}
		return refusal(answer.StatusCode, header, answer.ErrorCode, message)
	case strings.Contains(err.Error(), "failed to authenticate"), strings.Contains(err.Error(), "Credential"):
		return hinted(app.Errorf(app.ECredentials, "Muster's host has no identity at Azure."),
			"Set directory_id, client_id and client_secret, or give the host a managed identity.")
	}
	return err
}

// messageOf returns the sentence of an answer's error.
func messageOf(r *http.Response) string {
	b, err := runtime.Payload(r)
	if err != nil {
		return ""
	}
	type detail struct {
		Message string   `json:"message"`
		Details []detail `json:"details"`
	}
	var body struct {
		detail
		Error detail `json:"error"`
	}
	if json.Unmarshal(b, &body) != nil {
		return ""
	}
	e := body.Error
	if e.Message == "" {
		e = body.detail
	}
	if len(e.Details) > 0 && len(e.Message) < 80 && e.Details[0].Message != "" { // a frame around what is wrong
		return e.Details[0].Message
	}
	return e.Message
}

// refusal is the error of an answer, by Azure's code and status.
func refusal(status int, header http.Header, code, message string) *app.Error {
	e := account.Status(status, header, "")
	if message = strings.TrimSpace(strings.Join(strings.Fields(message), " ")); message != "" {
		if len(message) > 400 {
			message = strings.ToValidUTF8(message[:400], "") + "…"
		}
		e.Message = "Azure responded: " + strings.TrimSuffix(message, ".") + "."
	} else {
		e.Message = "Azure responded " + strings.TrimSpace(http.StatusText(status)+" "+code) + "."
	}
	known := false
	for _, k := range []app.Code{app.ECapacity, app.EQuota, app.ENotFound, app.ETransient, app.ECredentials, app.EInvalid} {
		if slices.Contains(kinds[k], code) {
			e.Code, known = k, true
		}
	}
	switch low := strings.ToLower(message); {
	case known:
	case status == http.StatusTooManyRequests, code == "TooManyRequests":
		e.Code = app.ERateLimit
	case code == "OperationNotAllowed" && strings.Contains(low, "quota"), strings.HasSuffix(code, "LimitReached"), strings.HasSuffix(code, "QuotaExceeded"):
		e.Code = app.EQuota
	case strings.HasSuffix(code, "InUse"), strings.HasPrefix(code, "InUse"), status == http.StatusConflict:
		e.Code = app.ETransient
	case status == http.StatusNotFound && code == "":
		// Not an answer of Resource Manager: a proxy, or an address that is wrong. It does not tell that something is gone.
		e.Code, e.Message = app.ETransient, "The API's address isn't Azure Resource Manager: it responded 404 without a reason."
		e.Hint = "Check the setting api_url."
	case status == http.StatusPreconditionFailed:
		e.Code = app.EConflict // something with that name exists
	case status == 0 || status < 400: // an operation that failed
		e.Code = app.EInvalid
	}
	switch e.Code {
	case app.ECapacity:
		e.Hint = hintPlace
	case app.EQuota:
		e.Hint = hintQuota
	case app.ECredentials:
		e.Hint = hintRole
	case app.ERateLimit:
		if e.RetryAfter == 0 {
			e.RetryAfter = max(account.RetryAfter(header, time.Now()), comeBack)
		}
	}
	if hint := hints[code]; hint != "" {
		e.Hint = hint
	}
	e.Reason = reasonOf(e.Reason, code)
	return e
}

// reasonOf keeps what the family knows an error by, and else Azure's own code.
func reasonOf(reason, code string) string {
	if reason == "" {
		return code
	}
	return reason
}

// entra is how Microsoft Entra ID writes what is wrong.
var entra = regexp.MustCompile(`(AADSTS\d+): ([^\r\n"\\]{1,200})`)

// refusedLogin is the answer of where tokens are had.
func refusedLogin(login *azidentity.AuthenticationFailedError) error {
	status, said := 0, login.Error()
	var header http.Header
	if r := login.RawResponse; r != nil {
		status, header = r.StatusCode, r.Header
	}
	switch {
	case status == http.StatusTooManyRequests:
		e := account.Status(status, header, "Microsoft Entra ID gets too many sign-ins.")
		e.RetryAfter = max(e.RetryAfter, comeBack)
		return e
	case status >= 500:
		return account.Status(status, header, "Microsoft Entra ID isn't available.")
	case status == 0 && !entra.MatchString(said):
		var inner error = login
		for errors.Unwrap(inner) != nil {
			inner = errors.Unwrap(inner)
		}
		return app.Errorf(app.ETransient, "Can't sign in to Microsoft Entra ID: %w", inner)
	}
	e := app.Errorf(app.ECredentials, "Microsoft Entra ID rejected the credentials.")
	e.Hint = hintSecret
	m := entra.FindStringSubmatch(said)
	if m == nil {
		return e
	}
	e.Reason = m[1]
	switch m[1] {
	case "AADSTS7000222":
		e.Message = "The client secret has expired."
	case "AADSTS7000215":
		e.Message = "Microsoft Entra ID rejected the client secret."
	case "AADSTS700016":
		e.Message, e.Hint = "The directory has no application with this client_id.", "Check client_id and directory_id."
	case "AADSTS90002":
		e.Message, e.Hint = "The directory doesn't exist.", "Check directory_id."
	default:
		e.Message = "Microsoft Entra ID rejected the credentials: " + m[1] + ", " + strings.TrimSuffix(m[2], ".") + "."
	}
	return e
}

func absent(id string) error { return app.Errorf(app.ENotFound, "machine %q doesn't exist", id) }

func isAbsent(err error) bool { return app.CodeOf(err) == app.ENotFound }

// refused tells that nothing was made, and that asking again soon won't help.
func refused(err error) bool {
	return slices.Contains([]app.Code{app.ECredentials, app.ECapacity, app.EQuota, app.ENotFound, app.EInvalid}, app.CodeOf(err))
}

// busy tells that something else is being done to a resource, or to one that it needs.
func busy(err error) bool {
	passing := []string{"AnotherOperationInProgress", "RetryableError", "RetryableErrorDueToAnotherOperation", "ReferencedResourceNotProvisioned"}
	return err != nil && slices.Contains(passing, app.AsError(err).Reason)
}
