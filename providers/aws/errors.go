package aws

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"muster/app"
	"muster/providers/internal/account"
)

// The services that are spoken to, as people are notified of them.
const (
	serviceEC2 = "EC2"
	serviceDNS = "Route 53"
)

// throttledFor is when to come back after too many calls, since EC2 does not say: its buckets fill by a few calls a second.
const throttledFor = 5 * time.Second

// codes are EC2's own words for what went wrong; those that it has many of are recognized by their form, in codeFor.
var codes = map[string]app.Code{
	"AuthFailure": app.ECredentials, "UnauthorizedOperation": app.ECredentials, "OptInRequired": app.ECredentials, "Blocked": app.ECredentials,
	"PendingVerification": app.ECredentials, "AccessDenied": app.ECredentials, "AccessDeniedException": app.ECredentials,
	"InvalidClientTokenId": app.ECredentials, "UnrecognizedClientException": app.ECredentials, "ExpiredToken": app.ECredentials,
	"ExpiredTokenException": app.ECredentials, "RequestExpired": app.ECredentials, "SignatureDoesNotMatch": app.ECredentials,
	"MissingAuthenticationToken": app.ECredentials, "IncompleteSignature": app.ECredentials, "InvalidSignatureException": app.ECredentials,

	"InsufficientInstanceCapacity": app.ECapacity, "InsufficientHostCapacity": app.ECapacity, "InsufficientCapacity": app.ECapacity,
	"InsufficientReservedInstanceCapacity": app.ECapacity, "InsufficientVolumeCapacity": app.ECapacity, "InsufficientAddressCapacity": app.ECapacity,
	"InsufficientFreeAddressesInSubnet": app.ECapacity, "SpotMaxPriceTooLow": app.ECapacity, "UnfulfillableCapacity": app.ECapacity,

	"MaxSpotInstanceCountExceeded": app.EQuota, "ResourceCountExceeded": app.EQuota, "InstanceLimitExceeded": app.EQuota, "VcpuLimitExceeded": app.EQuota,

	"RequestLimitExceeded": app.ERateLimit, "Throttling": app.ERateLimit, "ThrottlingException": app.ERateLimit, "RequestThrottled": app.ERateLimit,
	"RequestThrottledException": app.ERateLimit, "TooManyRequestsException": app.ERateLimit, "EC2ThrottledException": app.ERateLimit,

	"DependencyViolation": app.ETransient, "IncorrectInstanceState": app.ETransient, "IncorrectState": app.ETransient,
	"ConcurrentTagAccess": app.ETransient, "RequestTimeout": app.ETransient,

	"InvalidVolume.NotFound": app.ENotFound, "InvalidVolumeID.Malformed": app.ENotFound, "VolumeInUse": app.EConflict,
	"InvalidSnapshot.NotFound": app.ENotFound, "InvalidSnapshotID.Malformed": app.ENotFound, "InvalidSnapshot.InUse": app.EConflict,
	"SnapshotCreationPerVolumeRateExceeded": app.ERateLimit, "ConcurrentSnapshotLimitExceeded": app.ERateLimit,

	"InvalidInstanceID.NotFound": app.ENotFound, "InvalidInstanceID.Malformed": app.ENotFound,

	"PriorRequestNotComplete": app.ETransient, "LimitsExceeded": app.EQuota,

	"IdempotentParameterMismatch": app.EConflict, "IdempotentInstanceTerminated": app.EConflict, "OperationNotPermitted": app.EConflict,
}

// broken are the services' own words for a fault of theirs; any other word that we don't know is one where it comes with a status from 500.
var broken = []string{"InternalError", "InternalFailure", "InternalServiceError", "Unavailable", "ServiceUnavailable", "ServiceUnavailableException", "Internal", "ServerInternal"}

// hints say what would help, by how EC2's word begins. The first that fits counts.
var hints = []struct{ begins, hint string }{
	{"UnauthorizedOperation", "Add the missing action to the policy of the key or role. docs/providers/aws.md has a complete policy."},
	{"AccessDenied", "Allow the key to assume the role, and check the role's trust policy and external ID."},
	{"OptInRequired", "Subscribe to the image in AWS Marketplace, or enable the region for the account."},
	{"Blocked", "Ask AWS support why the account is blocked."},
	{"PendingVerification", "Wait for AWS to verify the account; this takes a few hours at most."},
	{"RequestExpired", "Correct the clock of Muster's host."},
	{"ExpiredToken", "The temporary keys have expired: set new ones, or use a role."},
	{"SignatureDoesNotMatch", "Set the secret access key again, and check the clock of Muster's host."},
	{"AuthFailure", "Set the access key again, and check that it's active and that the account can use the region."},
	{"InvalidClientTokenId", "Set the access key again, and check that it's active."},
	{"InsufficientFreeAddressesInSubnet", "Use a larger subnet, or add one in another zone."},
	{"Insufficient", "Try another zone or instance type, or try again later."},
	{"SpotMaxPriceTooLow", "Set spot to fallback or false."},
	{"VcpuLimitExceeded", "Request more vCPUs of this family in Service Quotas, for this region."},
	{"InstanceLimitExceeded", "Request more instances in Service Quotas, for this region."},
	{"MaxSpotInstanceCountExceeded", "Request more spot vCPUs in Service Quotas, or set spot to fallback or false."},
	{"InvalidAMIID", "Choose an image in this region that the account can use."},
	{"InvalidInstanceType", "Choose an instance type of this region, such as t3.small."},
	{"InvalidSubnetID", "Set subnet_id to a subnet of this region, or leave it empty for the default VPC."},
	{"InvalidVpcID", "Set vpc_id to a VPC of this region, or leave it empty for the default VPC."},
	{"InvalidGroup", "Set security_group_ids to groups of the subnet's VPC."},
	{"InvalidPlacementGroup", "Set placement_group to a placement group of this region."},
	{"NoSuchHostedZone", "Set dns_zone to a hosted zone of this account, and dns_zone_id to its ID."},
	{"PriorRequestNotComplete", "The hosted zone is changed too often by others. Try again later, or use a separate zone for clusters."},
	{"LimitsExceeded", "Request more in Service Quotas, under Amazon Route 53."},
	{"OperationNotPermitted", "Remove the instance's termination or stop protection."},
	{"Unsupported", "Choose another zone or instance type."},
}

// hintRecords is for what Route 53 does not allow.
const hintRecords = "Add the missing action to the policy of the key or role. docs/providers/aws.md has a policy for DNS records."

// codeOf returns an API error of a service its code. What came from the network stays as it is: the family's wrapper knows it.
func codeOf(service string, err error) error {
	if err == nil {
		return nil
	}
	status := 0
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		status = response.HTTPStatusCode()
	}
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() == "" || api.ErrorCode() == "UnknownError" {
		switch {
		case status >= 400:
			return account.Status(status, response.Response.Header, "")
		case status == 0 && keyless(err):
			return hinted(app.Errorf(app.ECredentials, "No AWS credentials found in the settings or the default chain."),
				"Set access_key_id and secret_access_key, or run Muster with an instance role.")
		}
		return err
	}
	word, message := api.ErrorCode(), strings.TrimSpace(api.ErrorMessage())
	if e := refusedBatch(err); e != nil {
		return e
	}
	e := &app.Error{Code: codeFor(word, message, status), Reason: word, Message: sentence(service, word, message)}
	if _, known := codes[word]; !known && e.Code == app.ETransient {
		e.Reason, e.Message = app.ReasonCloudBroken, service+" "+app.CloudBroken+": it responded "+word
	}
	if e.Code == app.ERateLimit {
		e.RetryAfter = throttledFor
	}
	for _, h := range hints {
		if strings.HasPrefix(word, h.begins) && !(word == "AuthFailure" && e.Code == app.EInvalid) {
			e.Hint = h.hint
			break
		}
	}
	if service == serviceDNS && strings.HasPrefix(word, "AccessDenied") && !strings.Contains(err.Error(), "operation error STS") {
		e.Reason, e.Hint = reasonDenied, hintRecords
	}
	return e
}

// Reasons of our own, for what a service says in several words.
const (
	reasonDenied = "UnauthorizedOperation"   // EC2's word for an action that the policy does not allow
	reasonMoved  = "moved"                   // a zone's records are not, or not any more, what a batch of changes began with
	reasonBatch  = "InvalidChangeBatch"      // Route 53's own word for one that it refuses
	reasonBusy   = "PriorRequestNotComplete" // and for a zone that another change is being made of
)

// refusedBatch returns the error for changes of a hosted zone, none of which were made; nil for any other. Route 53 says in sentences why.
func refusedBatch(err error) *app.Error {
	var batch *types.InvalidChangeBatch
	if !errors.As(err, &batch) {
		return nil
	}
	why := strings.Join(batch.Messages, " ")
	if why == "" {
		why = strings.Trim(value(batch.Message), "[]")
	}
	e := &app.Error{Code: app.EInvalid, Reason: reasonBatch, Message: sentence(serviceDNS, reasonBatch, why)}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(why, w) })
	}
	switch {
	case has("was not found", "do not match the current values", "already exists", "conflicts with other records"):
		e.Code, e.Reason, e.Hint = app.ETransient, reasonMoved, "Something else is changing the same names in the hosted zone."
	case has("limit of") && has("exceeded"):
		e.Code, e.Hint = app.EQuota, "Request more records per hosted zone in Service Quotas, under Amazon Route 53, or use a separate zone for clusters."
	}
	return e
}

// keyless reports whether a call was not even sent for want of credentials, and not because STS could not be reached or no one waited.
func keyless(err error) bool {
	text := err.Error()
	return strings.Contains(text, "get identity:") && !strings.Contains(text, "operation error STS") &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func codeFor(word, message string, status int) app.Code {
	code, known := codes[word]
	switch {
	case word == "AuthFailure" && strings.Contains(message, "Not authorized for images"):
		return app.EInvalid // the key is good, the image is not shared
	case word == "Unsupported" && strings.Contains(message, "Availability Zone"):
		return app.ECapacity
	case known:
		return code
	case strings.HasSuffix(word, "LimitExceeded"):
		return app.EQuota
	case status >= 500, slices.Contains(broken, word):
		return app.ETransient
	}
	return app.EInvalid
}

// sentence returns a service's words to people. What is encoded in them is long and of no use to anybody without another permission.
func sentence(service, word, message string) string {
	message, _, _ = strings.Cut(message, " Encoded authorization failure message:")
	if message == "" {
		return service + " answers " + word + "."
	}
	if !strings.HasSuffix(message, ".") {
		message += "."
	}
	return service + " answers: " + message + " (" + word + ")"
}

// because reports whether the service's own word for what went wrong is one of those.
func because(err error, words ...string) bool {
	var e *app.Error
	return errors.As(err, &e) && e.Reason != "" && slices.Contains(words, e.Reason)
}
