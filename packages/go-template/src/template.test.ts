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
  ['a field stands for its value', 'at {{ .IP }}!', 'at 192.0.2.7!'],
  ['white space inside does not matter', '{{.IP}}{{  .Name  }}', '192.0.2.7bmc-1'],
  ['a path leads to a member', '{{ .Protocol.port }}', '443'],
  ['what is not set prints as nothing', '<{{ .Hostname }}>', '<>'],
  ['a dash trims the white space on its side', 'a \n {{- .Name -}} \n b', 'abmc-1b'],
  ['comments leave nothing behind', 'a{{/* why }} */}}b {{- /* c */ -}} d', 'abd'],
  ['text in quotes may hold braces', '{{ "}}" }}', '}}'],
  ['raw text keeps its backslashes', '{{ `a\\n` }}', 'a\\n'],
  ['a value that looks like a template is not rendered again', '{{ "{{ .Name }} $&" }}', '{{ .Name }} $&'],
  ['if takes what is set', '{{ if .IP }}yes{{ else }}no{{ end }}', 'yes'],
  ['if takes nothing empty', '{{ if .Empty }}1{{ end }}{{ if .Zero }}2{{ end }}{{ if .None }}3{{ end }}', ''],
  ['if takes nothing that is not set', '{{ if .Hostname }}{{ .Hostname }}{{ else }}{{ .Name }}{{ end }}', 'bmc-1'],
  ['else if goes on', '{{ if .Empty }}1{{ else if .Zero }}2{{ else if .IP }}3{{ else }}4{{ end }}', '3'],
  ['with moves the dot', '{{ with .Protocol }}{{ .name }}:{{ .port }}{{ end }}', 'Redfish:443'],
  ['with has an else, too', '{{ with .Hostname }}{{ . }}{{ else }}{{ .Name }}{{ end }}', 'bmc-1'],
  ['the dollar is the data, wherever the dot is', '{{ with .Protocol }}{{ $.Name }}{{ end }}', 'bmc-1'],
  ['range goes over lists', '{{ range .List }}<{{ . }}>{{ end }}', '<a><b>'],
  [
    'range goes over maps by key',
    '{{ range $key, $value := .Labels }}{{ $key }}={{ $value }};{{ end }}',
    'metadata/height=3;rack=R1;',
  ],
  ['range counts lists', '{{ range $index, $value := .List }}{{ $index }}{{ $value }}{{ end }}', '0a1b'],
  ['range over nothing is its else', '{{ range .None }}x{{ else }}none{{ end }}', 'none'],
  ['blocks nest', '{{ range .List }}{{ if eq . "b" }}{{ . }}{{ end }}{{ end }}', 'b'],
  ['index finds what a path cannot name', '{{ index .Labels "metadata/height" }}', '3'],
  ['index of a missing key is nothing', '<{{ index .Labels "nope" }}>', '<>'],
  ['index counts lists', '{{ index .List 1 }}', 'b'],
  ['printf fills in', '{{ printf "%s-%d-%v 100%%" .Name .Protocol.port true }}', 'bmc-1-443-true 100%'],
  ['printf quotes', '{{ printf "%q" .Name }}', '"bmc-1"'],
  ['quote quotes', '{{ .Name | quote }}', '"bmc-1"'],
  ['default takes the place of nothing', '{{ .Hostname | default .Name }} {{ default "x" .IP }}', 'bmc-1 192.0.2.7'],
  ['lower and upper', '{{ lower "ABC" }}{{ upper "abc" }}', 'abcABC'],
  ['replace takes old, new and text', '{{ replace "." "-" .IP }}', '192-0-2-7'],
  ['pipelines go from left to right', '{{ .IP | replace "." "-" | printf "h-%s" | quote }}', '"h-192-0-2-7"'],
  ['parentheses group', '{{ printf "%s" (index .Labels "rack" | lower) }}', 'r1'],
  ['eq compares with any', '{{ if eq .Name "x" "bmc-1" }}yes{{ end }}', 'yes'],
  ['ne compares', '{{ if ne .Name "x" }}yes{{ end }}', 'yes'],
  ['and, or, not', '{{ if and .IP (not .Hostname) (or .Empty .Name) }}yes{{ end }}', 'yes'],
  ['and is false where one is not set', '{{ if and .Hostname true }}yes{{ else }}no{{ end }}', 'no'],
  ['len counts', '{{ len .List }} {{ len .Name }} {{ len .Labels }}', '2 5 2'],
];

for (const [title, template, text] of rendered) {
  test(title, () => assert.equal(templateOf(template).render(data), text));
}

const invalid: [title: string, template: string, message: RegExp][] = [
  ['an action without its end', 'a\n{{ .Name', /^line 2: .*never ended; expected \}\}/],
  ['a block without its end', '\n\n{{ if .Name }}x', /^line 3: \{\{ if \.Name \}\} is never ended/],
  ['an end without its block', 'x{{ end }}', /^line 1: \{\{ end \}\} belongs to nothing/],
  ['an else without its block', '{{ else }}', /belongs to nothing/],
  ['a second else', '{{ if .Name }}{{ else }}{{ else }}{{ end }}', /is never ended/],
  ['definitions', '{{ define "x" }}{{ end }}', /"define" is not supported/],
  ['other templates', '{{ template "x" }}', /"template" is not supported/],
  ['leaving a range', '{{ range .List }}{{ break }}{{ end }}', /"break" is not supported/],
  ['unknown functions', '{{ .Name | frobnicate }}', /there is no function "frobnicate"; there are index, len/],
  ['names of JavaScript', '{{ constructor .Name }}', /no function "constructor"/],
  ['variables', '{{ $x := .Name }}', /"?:=|only as|not declared/],
  ['variables that nobody declared', '{{ $x }}', /variable \$x is not declared/],
  ['variables after their range', '{{ range $x := .List }}{{ end }}{{ $x }}', /variable \$x is not declared/],
  ['arguments of values', '{{ .Name "x" }}', /only functions do/],
  ['values after a bar', '{{ .Name | .IP }}', /a function is expected/],
  ['empty actions', '{{ }}', /a value is missing/],
  ['parentheses that do not match', '{{ (.Name }}', /without its \)/],
  ['parentheses that were never opened', '{{ .Name ) }}', /without its \(/],
  ['signs that mean nothing', '{{ .Name + 1 }}', /"\+ 1" is not understood/],
];

for (const [title, template, message] of invalid) {
  test(`not understood: ${title}`, () =>
    assert.throws(() => templateOf(template), { code: 'TemplateFailed', message }));
}

const failing: [title: string, template: string, message: RegExp][] = [
  [
    'a field that there is not',
    'a\nb {{ .Nope }}',
    /^line 2: \{\{ \.Nope \}\}: there is no Nope; there are Name, Hostname/,
  ],
  ['a member that there is not', '{{ .Labels.nope }}', /there is no nope; there are rack/],
  ['a member of what is not set', '{{ .Hostname.x }}', /\.Hostname is not set, so it has no x/],
  ['a member of a text', '{{ .Name.x }}', /has no members/],
  ['names of JavaScript', '{{ .Labels.constructor }}', /there is no constructor/],
  ['printing a map', '{{ .Labels }}', /a list or map cannot be printed/],
  ['ranging over a text', '{{ range .Name }}x{{ end }}', /only lists and maps/],
  ['too few arguments', '{{ replace "a" .Name }}', /replace is given too few arguments/],
  ['too few values for printf', '{{ printf "%s" }}', /no value for %s/],
  ['too many values for printf', '{{ printf "x" .Name }}', /1 values too many/],
  ['verbs that printf does not know', '{{ printf "%x" 1 }}', /does not understand %x/],
];

for (const [title, template, message] of failing) {
  test(`fails when rendered: ${title}`, () =>
    assert.throws(() => templateOf(template).render(data), { code: 'TemplateFailed', message }));
}

test('a template tells which fields it names, also in branches that are not taken', () => {
  const { names } = templateOf(
    '{{ if .A }}{{ with .B }}{{ .inner }}{{ $.C }}{{ end }}{{ else }}{{ printf "%s" (lower .D) }}{{ end }}',
  );
  assert.deepEqual([...names].toSorted(), ['A', 'B', 'C', 'D']);
});
