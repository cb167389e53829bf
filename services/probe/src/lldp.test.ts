import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LldpNeighbour, lldpFrom } from './lldp.ts';

const none: LldpNeighbour = {
  chassisId: '',
  portId: '',
  portDescription: '',
  systemName: '',
  systemDescription: '',
  mgmtIp: '',
  capabilities: [],
  vlanId: '',
};
const oneNeighbour = (chassis: unknown, more: object = {}) => ({
  lldp: { interface: { eth0: { chassis, port: { id: { type: 'mac', value: 'p1' }, descr: 'swp1' }, ...more } } },
});
const neighbourIn = (output: unknown) => lldpFrom(output)[0]?.neighbors[0];

const rows: [string, unknown, unknown][] = [
  ['no interface at all', { lldp: {} }, []],
  ['no valid structure', 'rubbish', []],
  ['null', null, []],
  [
    'an object of interfaces',
    { lldp: { interface: { eth0: {}, eth1: {} } } },
    [
      { name: 'eth0', neighbors: [] },
      { name: 'eth1', neighbors: [] },
    ],
  ],
  [
    'a list of single-key objects',
    { lldp: { interface: [{ eth0: {} }, { eth1: {} }] } },
    [
      { name: 'eth0', neighbors: [] },
      { name: 'eth1', neighbors: [] },
    ],
  ],
];
for (const [title, output, expected] of rows) {
  test(`lldpctl output with ${title} is read`, () => assert.deepEqual(lldpFrom(output), expected));
}

test('a neighbour has the attributes that its switch announces', () => {
  const leaf = {
    id: { type: 'mac', value: '00:11:22:33:44:55' },
    descr: 'SONiC',
    'mgmt-ip': ['10.0.0.1', 'fe80::1'],
    capability: [
      { type: 'Bridge', enabled: true },
      { type: 'Router', enabled: true },
      { type: 'Wlan', enabled: false },
    ],
  };
  assert.deepEqual(neighbourIn(oneNeighbour({ leaf1: leaf }, { vlan: { 'vlan-id': '100', pvid: true } })), {
    chassisId: '00:11:22:33:44:55',
    portId: 'p1',
    portDescription: 'swp1',
    systemName: 'leaf1',
    systemDescription: 'SONiC',
    mgmtIp: '10.0.0.1',
    capabilities: ['Bridge', 'Router'],
    vlanId: '100',
  });
});

test('a switch without a system name is a neighbour', () => {
  assert.deepEqual(neighbourIn(oneNeighbour({ id: { type: 'mac', value: 'aa' }, descr: 'dumb' })), {
    ...none,
    chassisId: 'aa',
    portId: 'p1',
    portDescription: 'swp1',
    systemDescription: 'dumb',
  });
});

test('several switches on one port are several neighbours', () => {
  const both = lldpFrom(oneNeighbour({ leaf1: { id: { value: 'a' } }, leaf2: { id: { value: 'b' } } }));
  assert.deepEqual(
    both[0]?.neighbors.map(({ systemName, chassisId }) => [systemName, chassisId]),
    [
      ['leaf1', 'a'],
      ['leaf2', 'b'],
    ],
  );
});

const vlans: [string, unknown, string][] = [
  ['the only one', { 'vlan-id': 7 }, '7'],
  ['the PVID of the port', [{ 'vlan-id': '1' }, { 'vlan-id': '2', pvid: true }], '2'],
  ['the first one without a PVID', [{ 'vlan-id': '3' }, { 'vlan-id': '4' }], '3'],
  ['none', undefined, ''],
];
for (const [title, vlan, expected] of vlans) {
  test(`the VLAN of a neighbour is ${title}`, () =>
    assert.equal(neighbourIn(oneNeighbour({ a: {} }, { vlan }))?.vlanId, expected));
}

test('a single management address and a single capability are parsed without a list', () => {
  const neighbour = neighbourIn(
    oneNeighbour({ a: { 'mgmt-ip': '10.1.1.1', capability: { type: 'Bridge', enabled: true } } }),
  );
  assert.equal(neighbour?.mgmtIp, '10.1.1.1');
  assert.deepEqual(neighbour?.capabilities, ['Bridge']);
});

test('a missing attribute is empty, and the others are kept', () => {
  const partial: [unknown, object][] = [
    [{ chassis: { leaf1: { id: { type: 'mac', value: 'aa' } } } }, { systemName: 'leaf1', chassisId: 'aa' }],
    [
      { chassis: { leaf1: {} }, port: { id: { value: 'p1' } }, vlan: [] },
      { systemName: 'leaf1', portId: 'p1' },
    ],
    [
      {
        chassis: { leaf1: { 'mgmt-ip': [], capability: [{ enabled: true }, { type: 'Router' }] } },
        port: { descr: 'swp1' },
      },
      { systemName: 'leaf1', portDescription: 'swp1' },
    ],
  ];
  for (const [port, expected] of partial)
    assert.deepEqual(neighbourIn({ lldp: { interface: [{ eth0: port }] } }), { ...none, ...expected });
  assert.deepEqual(lldpFrom({ lldp: { interface: { eth0: { port: { id: { value: 'p1' } } } } } }), [
    { name: 'eth0', neighbors: [] },
  ]);
});
