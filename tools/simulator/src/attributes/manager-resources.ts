import type { Resource } from '../replies.ts';

/** Resources of a manager with writable properties, by their path below it. */
export type ManagerResources = Readonly<Record<string, Resource>>;

const port = (enabled: boolean, Port: number): Resource => ({ ProtocolEnabled: enabled, Port });

/** ManagerNetworkProtocol, with two slots for NTP servers. */
export const networkProtocol: ManagerResources = {
  NetworkProtocol: {
    '@odata.type': '#ManagerNetworkProtocol.v1_10_1.ManagerNetworkProtocol',
    Id: 'NetworkProtocol',
    Name: 'Manager Network Protocol',
    HostName: 'bmc',
    HTTPS: port(true, 443),
    SSH: port(true, 22),
    IPMI: port(false, 623),
    SNMP: port(false, 161),
    NTP: { ProtocolEnabled: false, NTPServers: ['', ''] },
  },
};

export const hpeResources: ManagerResources = {
  ...networkProtocol,
  SnmpService: {
    '@odata.type': '#HpeiLOSnmpService.v2_3_0.HpeiLOSnmpService',
    Id: 'SnmpService',
    Name: 'SNMP Service',
    AlertsEnabled: true,
    Contact: '',
    Location: '',
    Role: '',
    ReadCommunities: ['', '', ''],
    PeriodicHSATrapConfig: 'Disabled',
  },
};

export const lenovoResources: ManagerResources = {
  ...networkProtocol,
  'NetworkProtocol/Oem/Lenovo/SNMP': {
    '@odata.type': '#LenovoSNMPProtocol.v1_0_0.LenovoSNMPProtocol',
    Id: 'SNMP',
    Name: 'SNMP',
    SNMPv3Agent: { ProtocolEnabled: false, Port: 161, ContactPerson: '', Location: '' },
    SNMPTraps: { ProtocolEnabled: false, Port: 162, AlertRecipient: '' },
  },
};

export const supermicroResources: ManagerResources = {
  ...networkProtocol,
  'Oem/Supermicro/NTP': {
    '@odata.type': '#NTP.v1_1_1.NTP',
    Id: 'NTP',
    Name: 'NTP',
    NTPEnable: false,
    PrimaryNTPServer: 'localhost',
    SecondaryNTPServer: '127.0.0.1',
  },
};

/** Collections of a manager whose members can be created, with the type of a member, by their path below it. */
export type ManagerCollections = Readonly<Record<string, string>>;

export const hpeCollections: ManagerCollections = { 'SnmpService/SNMPUsers': 'HpeiLOSnmpUser' };
