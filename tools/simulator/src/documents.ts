import type { BmcState } from './bmc-state.ts';
import { root } from './links.ts';
import type { Reply } from './replies.ts';
import { resourceAt } from './resources.ts';

const metadataPath = `${root}/$metadata`;
const odataPath = `${root}/odata`;

/** Readable without credentials (DSP0266): the version document, the root and the documents of OData. */
export const isPublic = (path: string): boolean =>
  path === root || path === '/redfish' || path === metadataPath || path === odataPath;

/** The documents that are no Redfish resources: without `@odata.id`, type and ETag. Undefined for other paths. */
export function documentAt(bmc: BmcState, path: string): Reply | undefined {
  switch (path) {
    case '/redfish':
      return { status: 200, body: { v1: `${root}/` } };
    case metadataPath:
      return { status: 200, text: metadata, headers: { 'content-type': 'application/xml;charset=utf-8' } };
    case odataPath:
      return { status: 200, body: { '@odata.context': metadataPath, value: singletonsOf(bmc) } };
    default:
      return undefined;
  }
}

/** The root and the resources it links. */
function singletonsOf(bmc: BmcState): object[] {
  const links = Object.entries(resourceAt(bmc, root) ?? {}).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && '@odata.id' in value
      ? [{ name, kind: 'Singleton', url: value['@odata.id'] }]
      : [],
  );
  return [{ name: 'Service', kind: 'Singleton', url: `${root}/` }, ...links];
}

const schemas = [
  'AccountService',
  'AttributeRegistry',
  'Bios',
  'BootOption',
  'BootOptionCollection',
  'Chassis',
  'ChassisCollection',
  'ComputerSystem',
  'ComputerSystemCollection',
  'Drive',
  'DriveCollection',
  'EthernetInterface',
  'EthernetInterfaceCollection',
  'EventDestination',
  'EventDestinationCollection',
  'EventService',
  'Job',
  'Manager',
  'ManagerAccount',
  'ManagerAccountCollection',
  'ManagerCollection',
  'ManagerNetworkProtocol',
  'Memory',
  'MemoryCollection',
  'Message',
  'MessageRegistryFile',
  'MessageRegistryFileCollection',
  'Processor',
  'ProcessorCollection',
  'Role',
  'RoleCollection',
  'ServiceRoot',
  'Session',
  'SessionCollection',
  'SessionService',
  'Settings',
  'SimpleStorage',
  'SimpleStorageCollection',
  'SoftwareInventory',
  'SoftwareInventoryCollection',
  'Storage',
  'StorageCollection',
  'Task',
  'TaskCollection',
  'TaskService',
  'UpdateService',
  'VirtualMedia',
  'VirtualMediaCollection',
  'Volume',
  'VolumeCollection',
];

/** The OData metadata document: the schemas at DMTF, and the root as the entity container. */
const metadata = `<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
${schemas.map(referenceTo).join('\n')}
  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
      <EntityContainer Name="Service" Extends="ServiceRoot.v1_17_0.ServiceContainer"/>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
`;

function referenceTo(schema: string): string {
  const include = (namespace: string) => `    <edmx:Include Namespace="${namespace}"/>`;
  const versions = schema === 'ServiceRoot' ? [include(schema), include('ServiceRoot.v1_17_0')] : [include(schema)];
  return [
    `  <edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/${schema}_v1.xml">`,
    ...versions,
    '  </edmx:Reference>',
  ].join('\n');
}
