package gocloud

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode"

	"github.com/omnideck/omnideck/blob"
)

// refusalMax is how much of the body of a refusal is looked at.
const refusalMax = 16 << 10

// refusal is what a store said with an answer that is no success.
type refusal struct {
	status        int
	code, message string
	region        string // that the bucket lives in; "" = it did not say
}

// readRefusal finds the store's words in an answer: the XML of S3, Azure and
// Google's older interface, the JSON of its newer one, else one line of text.
func readRefusal(status int, h http.Header, body []byte) refusal {
	r := refusal{status: status, code: h.Get("X-Ms-Error-Code"), region: h.Get("X-Amz-Bucket-Region")}
	var x struct{ Code, Message, Region string }
	var j struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	switch {
	case xml.Unmarshal(body, &x) == nil && x.Code != "":
		r.message = x.Message
		if r.code == "" {
			r.code = x.Code
		}
		if r.region == "" {
			r.region = x.Region
		}
	case json.Unmarshal(body, &j) == nil && j.Error.Message != "":
		r.message = j.Error.Message
		if len(j.Error.Errors) > 0 && r.code == "" {
			r.code = j.Error.Errors[0].Reason
		}
	case len(body) > 0 && !bytes.ContainsRune(body, '<'): // no page for people
		r.message = string(body)
	}
	r.code, r.message, r.region = oneLine(r.code, 60), oneLine(r.message, 300), oneLine(r.region, 60)
	return r
}

// oneLine is the first line of a text of strangers, without what a terminal
// would obey, at most n letters long.
func oneLine(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	if letters := []rune(s); len(letters) > n {
		s = string(letters[:n]) + "…"
	}
	return strings.TrimSpace(s)
}

// noBucket says that the store has no such bucket, whatever was asked of it. A
// listing of a bucket that is there is never "not found".
func (r refusal) noBucket(op blob.Op) bool {
	return r.code == "NoSuchBucket" || r.code == "ContainerNotFound" ||
		r.status == http.StatusNotFound && (op == blob.OpList || strings.Contains(r.message, "bucket does not exist"))
}

// explain is the refusal as an error of the contract; nil for a success.
func (r refusal) explain(op blob.Op) *blob.StoreError {
	if r.status < 300 {
		return nil
	}
	e := &blob.StoreError{Status: r.status, Code: r.code, Message: r.message}
	e.Step, e.Class = r.class(op)
	switch {
	case e.Class == blob.ErrNotExist:
		e.Message = "" // it says the same
	case r.noBucket(op):
		e.Message = "there is no such bucket"
	case r.status < 400 || r.code == "AuthorizationHeaderMalformed" && r.region != "":
		e.Message = "the bucket lives in another region or at another endpoint"
		if r.region != "" {
			e.Message, e.Step = "the bucket lives in "+r.region, "set AWS_REGION="+r.region
		}
	}
	return e
}

// class is the next safe step after a refusal, and what it means to the contract.
func (r refusal) class(op blob.Op) (step string, class error) {
	switch r.code {
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired":
		return "renew the credentials", blob.ErrPermission
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthenticationFailed":
		return "check the key and its secret", blob.ErrPermission
	case "RequestTimeTooSkewed":
		return "set the clock of this machine", blob.ErrPermission
	case "BlobAlreadyExists":
		return "", blob.ErrExists
	}
	switch {
	case r.status < 400:
		return "set AWS_REGION or the endpoint", blob.ErrUnavailable
	case r.noBucket(op):
		return "check the name of the bucket and the endpoint", blob.ErrUnavailable
	}
	switch r.status {
	case http.StatusNotFound:
		return "", blob.ErrNotExist
	case http.StatusPreconditionFailed:
		return "", blob.ErrExists
	case http.StatusRequestedRangeNotSatisfiable:
		return "", blob.ErrRange
	case http.StatusUnauthorized:
		return "check the credentials", blob.ErrPermission
	case http.StatusForbidden:
		return "check what these credentials may do there", blob.ErrPermission
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "the store asks for patience: try again a little later", blob.ErrUnavailable
	}
	if r.status >= 500 {
		return "the failure is the store's: try again later", blob.ErrUnavailable
	}
	return "check the endpoint and the region", blob.ErrUnavailable
}

// noAnswer is why a host did not answer, as an error of the contract.
func noAnswer(host string, err error) *blob.StoreError {
	e := &blob.StoreError{Class: blob.ErrUnavailable, Err: err, Step: "check the endpoint and the network"}
	var (
		dns     *net.DNSError
		record  tls.RecordHeaderError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		dialing *net.OpError
		slow    interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Message = "there is no host " + dns.Name
	case errors.As(err, &dns):
		e.Message = "the address of " + dns.Name + " cannot be found out: " + dns.Err
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = host + " refuses the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		e.Message = "no way leads to " + host
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Message = host + " broke the connection off"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = host + " closed the connection without an answer"
	case errors.As(err, &record):
		e.Message, e.Step = host+" does not speak TLS", "check whether the endpoint begins with http:// or https://"
	case errors.As(err, &cert), errors.As(err, &unknown):
		e.Message, e.Step = "the certificate of "+host+" is not trusted", "check the endpoint and who vouches for its certificate"
	case errors.As(err, &slow) && slow.Timeout():
		e.Message = host + " took the request and does not answer"
		if errors.As(err, &dialing) && dialing.Op == "dial" {
			e.Message = host + " cannot be reached: nothing answers to the call"
		}
	default:
		e.Message = oneLine(err.Error(), 200)
	}
	e.Message = oneLine(e.Message, 300)
	return e
}

// badAnswer is a success that the library could not use.
func badAnswer(cut bool) *blob.StoreError {
	if cut {
		return &blob.StoreError{Class: blob.ErrUnavailable, Message: errCut.Error(), Step: "try again"}
	}
	return &blob.StoreError{
		Class: blob.ErrUnavailable, Message: "the answer cannot be understood",
		Step: "check the endpoint: something else than this kind of store may stand there",
	}
}
