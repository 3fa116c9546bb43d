// Command protogen makes Go code from the .proto files of the folder it is
// run in. It needs no protoc: the files are compiled by protocompile, and
// protoc-gen-go, of the version in go.mod, is run on the result.
//
// File names are relative to the module's root, in imports too, and every
// file is written to the folder that its go_package names. The output is a
// function of the .proto files and of go.mod alone.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, module, err := findModule()
	if err != nil {
		return err
	}
	files, err := protoFiles(root)
	if err != nil {
		return err
	}
	request, err := compile(ctx, root, files)
	if err != nil {
		return err
	}
	request.Parameter = proto.String("module=" + module)
	response, err := generate(ctx, request)
	if err != nil {
		return err
	}
	return write(root, response)
}

// findModule walks up from the working folder to the go.mod and returns its
// folder and the module's path.
func findModule() (root, module string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			first, _, _ := strings.Cut(string(text), "\n")
			return dir, strings.TrimSpace(strings.TrimPrefix(first, "module ")), nil
		}
		if filepath.Dir(dir) == dir {
			return "", "", fmt.Errorf("find the module: no go.mod above the working folder: %w", err)
		}
		dir = filepath.Dir(dir)
	}
}

// protoFiles lists the .proto files of the working folder, relative to root.
func protoFiles(root string) ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob("*.proto")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no .proto files in %s", dir)
	}
	for i, name := range names {
		names[i] = path.Join(filepath.ToSlash(rel), name)
	}
	slices.Sort(names)
	return names, nil
}

// compile returns a request for the plugin: the files and, before each, what
// it imports.
func compile(ctx context.Context, root string, files []string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{root},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, files...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: files}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range compiled {
		add(file)
	}
	return request, nil
}

// generate runs the plugin.
func generate(ctx context.Context, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	input, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, err
	}
	var output bytes.Buffer
	plugin := exec.CommandContext(ctx, "go", "run", "google.golang.org/protobuf/cmd/protoc-gen-go")
	plugin.Stdin, plugin.Stdout, plugin.Stderr = bytes.NewReader(input), &output, os.Stderr
	if err := plugin.Run(); err != nil {
		return nil, fmt.Errorf("run protoc-gen-go: %w", err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(output.Bytes(), response); err != nil {
		return nil, fmt.Errorf("read the answer of protoc-gen-go: %w", err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", response.GetError())
	}
	return response, nil
}

// write puts the generated files under root.
func write(root string, response *pluginpb.CodeGeneratorResponse) error {
	for _, file := range response.File {
		name := filepath.Join(root, filepath.FromSlash(file.GetName()))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(file.GetContent()), 0o666); err != nil {
			return err
		}
	}
	return nil
}
