import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templateOf } from './template.ts';

const data = {
  Name: 'bmc-1',
  Hostname: undefined,
  IP: '192.0.2.7',
  Empty: '',
  Zero: 0,
  Labels: { rack: 'R1', 'metadata/height': '3' },
  Protocol: { name: 'Redfish', port: 443 },
  List: ['a', 'b'],
  None: [],
};

const rendered: [title: string, template: string, text: string][] = [
  ['a field is replaced by its value', 'at {{ .IP }}!', 'at 192.0.2.7!'],
  ['white space in an action is ignored', '{{.IP}}{{  .Name  }}', '192.0.2.7bmc-1'],
  ['a path selects a member', '{{ .Protocol.port }}', '443'],
  ['an unset field is empty', '<{{ .Hostname }}>', '<>'],
  ['a dash trims the white space on its side', 'a \n {{- .Name -}} \n b', 'abmc-1b'],
  ['a comment is removed', 'a{{/* why }} */}}b {{- /* c */ -}} d', 'abd'],
  ['a quoted string may contain braces', '{{ "}}" }}', '}}'],
  ['a raw string keeps its backslashes', '{{ `a\\n` }}', 'a\\n'],
  ['a value with template syntax is not rendered', '{{ "{{ .Name }} $&" }}', '{{ .Name }} $&'],
  ['if is true for a set value', '{{ if .IP }}yes{{ else }}no{{ end }}', 'yes'],
  ['if is false for an empty value', '{{ if .Empty }}1{{ end }}{{ if .Zero }}2{{ end }}{{ if .None }}3{{ end }}', ''],
  ['if is false for an unset value', '{{ if .Hostname }}{{ .Hostname }}{{ else }}{{ .Name }}{{ end }}', 'bmc-1'],
  [
    'else if tests the next condition',
    '{{ if .Empty }}1{{ else if .Zero }}2{{ else if .IP }}3{{ else }}4{{ end }}',
    '3',
  ],
  ['with sets the dot', '{{ with .Protocol }}{{ .name }}:{{ .port }}{{ end }}', 'Redfish:443'],
  ['with has an else branch', '{{ with .Hostname }}{{ . }}{{ else }}{{ .Name }}{{ end }}', 'bmc-1'],
  ['the dollar is the data, independent of the dot', '{{ with .Protocol }}{{ $.Name }}{{ end }}', 'bmc-1'],
  ['range iterates over a list', '{{ range .List }}<{{ . }}>{{ end }}', '<a><b>'],
  [
    'range iterates over a map by key',
    '{{ range $key, $value := .Labels }}{{ $key }}={{ $value }};{{ end }}',
    'metadata/height=3;rack=R1;',
  ],
  ['range has the index of a list', '{{ range $index, $value := .List }}{{ $index }}{{ $value }}{{ end }}', '0a1b'],
  ['range over an empty list renders its else branch', '{{ range .None }}x{{ else }}none{{ end }}', 'none'],
  ['blocks nest', '{{ range .List }}{{ if eq . "b" }}{{ . }}{{ end }}{{ end }}', 'b'],
  ['index finds a key that a path cannot name', '{{ index .Labels "metadata/height" }}', '3'],
  ['index of a missing key is empty', '<{{ index .Labels "nope" }}>', '<>'],
  ['index selects a list element', '{{ index .List 1 }}', 'b'],
  ['printf formats values', '{{ printf "%s-%d-%v 100%%" .Name .Protocol.port true }}', 'bmc-1-443-true 100%'],
  ['printf quotes', '{{ printf "%q" .Name }}', '"bmc-1"'],
  ['quote quotes', '{{ .Name | quote }}', '"bmc-1"'],
  ['default replaces an empty value', '{{ .Hostname | default .Name }} {{ default "x" .IP }}', 'bmc-1 192.0.2.7'],
  ['lower and upper', '{{ lower "ABC" }}{{ upper "abc" }}', 'abcABC'],
  ['replace takes old, new and text', '{{ replace "." "-" .IP }}', '192-0-2-7'],
  ['pipelines go from left to right', '{{ .IP | replace "." "-" | printf "h-%s" | quote }}', '"h-192-0-2-7"'],
  ['parentheses group', '{{ printf "%s" (index .Labels "rack" | lower) }}', 'r1'],
  ['eq compares with any', '{{ if eq .Name "x" "bmc-1" }}yes{{ end }}', 'yes'],
  ['ne compares', '{{ if ne .Name "x" }}yes{{ end }}', 'yes'],
  ['and, or, not', '{{ if and .IP (not .Hostname) (or .Empty .Name) }}yes{{ end }}', 'yes'],
  ['and is false if one value is unset', '{{ if and .Hostname true }}yes{{ else }}no{{ end }}', 'no'],
  ['len counts', '{{ len .List }} {{ len .Name }} {{ len .Labels }}', '2 5 2'],
];

for (const [title, template, text] of rendered) {
  test(title, () => assert.equal(templateOf(template).render(data), text));
}

const invalid: [title: string, template: string, message: RegExp][] = [
  ['an action without its end', 'a\n{{ .Name', /^line 2: found \{\{ without \}\}/],
  ['a block without its end', '\n\n{{ if .Name }}x', /^line 3: \{\{ if \.Name \}\} is not closed/],
  ['an end without its block', 'x{{ end }}', /^line 1: \{\{ end \}\} has no matching block/],
  ['an else without its block', '{{ else }}', /has no matching block/],
  ['a second else', '{{ if .Name }}{{ else }}{{ else }}{{ end }}', /is not closed/],
  ['definitions', '{{ define "x" }}{{ end }}', /"define" is not supported/],
  ['other templates', '{{ template "x" }}', /"template" is not supported/],
  ['leaving a range', '{{ range .List }}{{ break }}{{ end }}', /"break" is not supported/],
  ['unknown functions', '{{ .Name | frobnicate }}', /unknown function "frobnicate"; expected one of index, len/],
  ['names of JavaScript', '{{ constructor .Name }}', /unknown function "constructor"/],
  ['variables', '{{ $x := .Name }}', /"?:=|only as|not declared/],
  ['undeclared variables', '{{ $x }}', /variable \$x is not declared/],
  ['variables after their range', '{{ range $x := .List }}{{ end }}{{ $x }}', /variable \$x is not declared/],
  ['arguments of values', '{{ .Name "x" }}', /only functions do/],
  ['values after a pipe', '{{ .Name | .IP }}', /expected a function/],
  ['empty actions', '{{ }}', /expected a value/],
  ['an unclosed parenthesis', '{{ (.Name }}', /found \( without \)/],
  ['an extra closing parenthesis', '{{ .Name ) }}', /found \) without \(/],
  ['unknown signs', '{{ .Name + 1 }}', /"\+ 1" is not understood/],
];

for (const [title, template, message] of invalid) {
  test(`parsing rejects ${title}`, () =>
    assert.throws(() => templateOf(template), { code: 'TemplateFailed', message }));
}

const failing: [title: string, template: string, message: RegExp][] = [
  ['an unknown field', 'a\nb {{ .Nope }}', /^line 2: \{\{ \.Nope \}\}: there is no Nope; there are Name, Hostname/],
  ['an unknown member', '{{ .Labels.nope }}', /there is no nope; there are rack/],
  ['a member of an unset value', '{{ .Hostname.x }}', /\.Hostname is not set, so it has no x/],
  ['a member of a string', '{{ .Name.x }}', /has no members/],
  ['names of JavaScript', '{{ .Labels.constructor }}', /there is no constructor/],
  ['printing a map', '{{ .Labels }}', /a list or map cannot be printed/],
  ['ranging over a string', '{{ range .Name }}x{{ end }}', /only lists and maps/],
  ['too few arguments', '{{ replace "a" .Name }}', /replace has too few arguments/],
  ['too few values for printf', '{{ printf "%s" }}', /no value for %s/],
  ['too many values for printf', '{{ printf "x" .Name }}', /1 extra values/],
  ['unknown verbs of printf', '{{ printf "%x" 1 }}', /does not support %x/],
];

for (const [title, template, message] of failing) {
  test(`rendering rejects ${title}`, () =>
    assert.throws(() => templateOf(template).render(data), { code: 'TemplateFailed', message }));
}

test('a template lists the fields that it names, also in branches that are not rendered', () => {
  const { names } = templateOf(
    '{{ if .A }}{{ with .B }}{{ .inner }}{{ $.C }}{{ end }}{{ else }}{{ printf "%s" (lower .D) }}{{ end }}',
  );
  assert.deepEqual([...names].toSorted(), ['A', 'B', 'C', 'D']);
});
