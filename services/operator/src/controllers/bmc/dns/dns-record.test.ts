import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { renderRecord } from './dns-record.ts';
import { templateOf } from '@metal/go-template/template.ts';

const bmc: BMC = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BMC',
  metadata: { name: 'bmc-1', uid: 'u', labels: { rack: 'r1' } },
  spec: { access: { ip: '192.0.2.1' }, bmcSecretRef: { name: 's' }, protocol: { name: 'Redfish', port: 443 } },
  status: { ip: '192.0.2.1', manufacturer: 'Dell Inc.', conditions: [] },
};
const render = (template: string) => renderRecord(templateOf(template), bmc, 'ns');
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n';

test('the sample template of v0.7.0 yields a DNSRecord', () => {
  const { record } = render(`apiVersion: dns.ironcore.dev/v1alpha1
kind: DNSRecord
metadata:
  name: {{ .Name }}
  namespace: {{ .Namespace }}
  labels:
    {{- range $key, $value := .Labels }}
    {{ $key }}: {{ $value | quote }}
    {{- end }}
spec:
  hostname: {{ if .Hostname }}{{ .Hostname }}{{ else }}{{ .Name }}{{ end }}
  ip: {{ .IP }}
  recordType: A
  ttl: 300
`);
  assert.deepEqual(record, {
    apiVersion: 'dns.ironcore.dev/v1alpha1',
    kind: 'DNSRecord',
    metadata: { name: 'bmc-1', namespace: 'ns', labels: { rack: 'r1' } },
    spec: { hostname: 'bmc-1', ip: '192.0.2.1', recordType: 'A', ttl: 300 },
  });
});

test('fields are available directly and by group', () => {
  const { record } = render(
    `${head}data: { a: "{{ .BMCStatus.IP }}", b: "{{ .BMCSpec.Protocol.Port }}", c: "{{ .Endpoint.IP }}" }`,
  );
  assert.deepEqual(record?.data, { a: '192.0.2.1', b: '443', c: '192.0.2.1' });
});

for (const [title, template, problem] of [
  [
    'a field that there is not',
    `${head}data: {{ .Spec }}`,
    /template, line 5: \{\{ \.Spec \}\}: there is no Spec; there are Name/,
  ],
  ['an Endpoint that is not used', `${head}data: {{ .EndpointRef.Name }}`, /\.EndpointRef is not set/],
  ['no name', 'apiVersion: v1\nkind: ConfigMap\n', /gives no object: metadata: .*expected apiVersion/],
  ['no object', 'hello', /gives no object/],
  ['no YAML', 'a: [', /gives no YAML document/],
  ['two documents', `${head}---\n${head}`, /gives no YAML document/],
] as const) {
  test(`a template with ${title} is a reported problem`, () => {
    assert.match(render(template).problem ?? '', problem);
  });
}

for (const [title, text] of [
  ['a line break', 'S1\n  aliases: [api.cluster.example]'],
  ['a carriage return', 'S1\r'],
  ['a line separator', 'S1\u2028'],
] as const)
  test(`a text of the BMC with ${title} makes no record: it could add fields`, () => {
    const template = templateOf(`${head}data:\n  serial: {{ .SerialNumber }}\n`);
    const hostile: BMC = { ...bmc, status: { ...bmc.status, serialNumber: text, conditions: [] } };
    const { record, problem } = renderRecord(template, hostile, 'ns');
    assert.equal(record, undefined);
    assert.match(problem ?? '', /^SerialNumber of this BMC has control characters/);
  });

test('a text of the BMC that the template does not use prevents no record', () => {
  const hostile: BMC = { ...bmc, status: { ...bmc.status, serialNumber: 'S1\n', conditions: [] } };
  assert.equal(renderRecord(templateOf(`${head}data: { ip: "{{ .IP }}" }`), hostile, 'ns').problem, undefined);
});
