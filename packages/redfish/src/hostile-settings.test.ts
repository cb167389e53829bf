import { test } from 'node:test';
import { StubBmc, openStubClient } from '../test/stub-bmc.ts';
import { pathsInto, replaced, unusableValues } from '../test/unusable-values.ts';
import { RedfishError } from './errors.ts';
import { compareAttributes } from './resources/attributes.ts';
import { clearPendingBiosAttributes, readBiosAttributes, writeBiosAttributes } from './resources/bios-attributes.ts';
import { readBmcSettings } from './resources/bmc-settings.ts';
import type { Bmc } from './http/bmc.ts';

const root = '/redfish/v1';
const system = `${root}/Systems/1`;
const bios = `${system}/Bios`;
const manager = `${root}/Managers/BMC`;
const group = `${manager}/Group`;
const link = (path: string) => ({ '@odata.id': path });

const settingsAt = (path: string) => ({
  '@Redfish.Settings': { SettingsObject: link(`${path}/Settings`), SupportedApplyTimes: ['OnReset', 'Immediate'] },
});
const condition = {
  MapFromAttribute: 'Mode',
  MapFromProperty: 'CurrentValue',
  MapFromCondition: 'EQU',
  MapFromValue: 'A',
  MapTerms: 'AND',
};

/** What a BMC needs for settings. */
const resources: Readonly<Record<string, object>> = {
  [bios]: { AttributeRegistry: 'Registry.v1', Attributes: { Mode: 'A', Cores: 4 }, Actions: {}, ...settingsAt(bios) },
  [`${bios}/Settings`]: {
    Attributes: { Mode: 'B' },
    Actions: { Oem: { '#Oem.ClearPending': { target: `${bios}/Clear` } } },
  },
  [`${root}/Registries`]: { Members: [link(`${root}/Registries/Registry.v1`)] },
  [`${root}/Registries/Registry.v1`]: { Registry: 'Registry.v1', Location: [{ Language: 'en', Uri: '/registry' }] },
  '/registry': {
    RegistryEntries: {
      Attributes: [
        {
          AttributeName: 'Mode',
          Type: 'Enumeration',
          Value: [{ ValueName: 'A', ValueDisplayName: 'a' }],
          ReadOnly: false,
        },
        { AttributeName: 'Cores', Type: 'Integer', LowerBound: 1, UpperBound: 8, ResetRequired: true },
      ],
      Dependencies: [
        { Dependency: { MapFrom: [condition], MapToAttribute: 'Cores', MapToProperty: 'ReadOnly', MapToValue: true } },
      ],
    },
  },
  [manager]: { UUID: 'AAAA', Links: { Oem: { Dell: { DellAttributes: [link(group)] } } } },
  [group]: { AttributeRegistry: 'Registry.v1', Attributes: { Mode: 'A', Cores: 4 }, ...settingsAt(group) },
  [`${group}/Settings`]: { Attributes: { Mode: 'B' } },
};

const desired = { Mode: 'a', Cores: '5', Other: 'x' };

const operations: Readonly<Record<string, (bmc: Bmc) => Promise<unknown>>> = {
  'reads and compares BIOS attributes': async (bmc) =>
    compareAttributes(desired, await readBiosAttributes(bmc, system)),
  'writes BIOS attributes': (bmc) =>
    writeBiosAttributes(bmc, system, () => [{ name: 'Cores', from: 4, to: 5, needsReset: true }]),
  'withdraws pending BIOS attributes': (bmc) => clearPendingBiosAttributes(bmc, system),
  'compares settings of the BMC': (bmc) => readBmcSettings(bmc, 'AAAA', { ...desired, [`PATCH ${group}`]: '{"Id":1}' }),
};

/** A RedfishError is an answer; any other error is a defect. */
const orRedfishError = (error: unknown): void => {
  if (!(error instanceof RedfishError)) throw error;
};

for (const [title, operate] of Object.entries(operations)) {
  test(`whatever the properties hold, the client ${title} or fails with an error of its catalogue`, async () => {
    await using stub = await StubBmc.start();
    await using bmc = openStubClient(stub);
    for (const [path, resource] of Object.entries(resources)) {
      for (const property of pathsInto(resource))
        for (const value of Object.values(unusableValues)) {
          for (const [at, each] of Object.entries(resources)) stub.set(at, each);
          // Another version of the BIOS, so that the registry is read again.
          stub.set(system, { Bios: link(bios), BiosVersion: `${stub.received.length}` });
          stub.set(path, replaced(resource, property, value) as object);
          await operate(bmc).catch(orRedfishError);
        }
    }
  });
}
