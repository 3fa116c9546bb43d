package s3

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/omnideck/omnideck/blob"
)

// settings are what one store is opened with, and where each came from.
type settings struct {
	cfg       aws.Config
	base      *string      // endpoint; nil: AWS
	creds     *credentials // nil: unsigned
	pathStyle bool
	attempts  int
	from      map[string]string // setting → source, for facts
}

// machineRole asks the cloud machine for its role, where there is such a
// machine, once: the SDK's own patience is 14 s on a machine that has none, and
// the answer is only that there are no credentials.
func machineRole(env func(string) (string, bool)) *imds.Client {
	o := imds.Options{Retryer: retry.AddWithMaxAttempts(retry.NewStandard(), 1), HTTPClient: &http.Client{Timeout: 2 * time.Second}}
	o.Endpoint, _ = env("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	if off, _ := env("AWS_EC2_METADATA_DISABLED"); strings.EqualFold(off, "true") {
		o.ClientEnableState = imds.ClientDisabled
	}
	return imds.New(o)
}

// load reads the SDK's settings, then the rest.
func load(ctx context.Context, bucket string, opts Options) (*settings, error) {
	env := opts.Getenv
	if env == nil {
		env = os.LookupEnv
	}
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithLogger(logging.Nop{}), // the terminal is a screen; errors say what warnings would
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = machineRole(env) }))
	if err != nil {
		return nil, fmt.Errorf("load the AWS settings: %w", err)
	}
	s := &settings{cfg: cfg, from: map[string]string{}}
	s.profile(env)
	s.region(env)
	s.endpoint(env)
	if e := aws.ToString(s.base); strings.HasPrefix(e, "http://") {
		if v, ok := flag(env, "AWS_ALLOW_HTTP"); ok && !v {
			return nil, fmt.Errorf("the endpoint %s is plain http and AWS_ALLOW_HTTP forbids that", e)
		}
	}
	s.style(env, bucket)
	s.attempts = s.cfg.RetryMaxAttempts
	if s.attempts <= 0 {
		s.attempts = 6
	}
	if v, _ := flag(env, "AWS_SKIP_SIGNATURE"); v {
		s.cfg.Credentials = aws.AnonymousCredentials{}
	} else if s.cfg.Credentials != nil {
		s.creds = &credentials{next: s.cfg.Credentials}
		s.cfg.Credentials = s.creds
	}
	return s, nil
}

func (s *settings) profile(env func(string) (string, bool)) {
	for _, name := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		if v, ok := env(name); ok && v != "" {
			s.from["profile"] = v + " (" + name + ")"
			return
		}
	}
}

func (s *settings) region(env func(string) (string, bool)) {
	source := "profile"
	for _, name := range []string{"AWS_DEFAULT_REGION", "AWS_REGION"} {
		if v, ok := env(name); ok && v != "" && v == s.cfg.Region {
			source = name
		}
	}
	if s.cfg.Region == "" {
		s.cfg.Region, source = "us-east-1", "default"
	}
	s.from["region"] = s.cfg.Region + " (" + source + ")"
}

// endpoint asks the SDK, whose rules for it are many, and then the variable that
// only the Rust engine's store knows.
func (s *settings) endpoint(env func(string) (string, bool)) {
	s.base = s3.NewFromConfig(s.cfg).Options().BaseEndpoint
	source := "profile"
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		if v, _ := env(name); s.base != nil && v == *s.base {
			source = name
		}
	}
	if v, _ := env("AWS_ENDPOINT"); v != "" && s.base == nil {
		s.base, source = aws.String(strings.TrimRight(v, "/")), "AWS_ENDPOINT"
	}
	if s.base != nil {
		s.from["endpoint"] = redacted(*s.base) + " (" + source + ")"
	}
}

// redacted drops what a URL may carry besides the place.
func redacted(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "(not a URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func (s *settings) style(env func(string) (string, bool), bucket string) {
	s.pathStyle = s.base != nil || strings.Contains(bucket, ".")
	source := "default"
	for _, name := range []string{"AWS_S3_USE_PATH_STYLE", "AWS_S3_FORCE_PATH_STYLE"} {
		if v, ok := flag(env, name); ok {
			s.pathStyle, source = v, name
		}
	}
	if v, ok := flag(env, "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"); ok {
		s.pathStyle, source = !v, "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"
	}
	s.from["path style"] = strconv.FormatBool(s.pathStyle) + " (" + source + ")"
}

// flag reads a truth value in any usual spelling.
func flag(env func(string) (string, bool), name string) (value, ok bool) {
	text, set := env(name)
	if !set {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "1", "t", "true", "y", "yes", "on":
		return true, true
	case "0", "f", "false", "n", "no", "off":
		return false, true
	}
	return false, false
}

func (s *settings) facts() []blob.Fact {
	facts := []blob.Fact{{Name: "endpoint", Value: "AWS"}}
	if e := s.from["endpoint"]; e != "" {
		facts[0].Value = e
	}
	for _, name := range []string{"region", "path style", "profile"} {
		if v := s.from[name]; v != "" {
			facts = append(facts, blob.Fact{Name: name, Value: v})
		}
	}
	where := "none (AWS_SKIP_SIGNATURE)"
	if s.creds != nil {
		where = s.creds.where()
	}
	return append(facts, blob.Fact{Name: "credentials", Value: where})
}
