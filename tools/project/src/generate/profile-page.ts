import { failedAssertions, quirksOf, violations } from '@metal/simulator/conformance.ts';
import { profiles, vendors } from '@metal/simulator/profiles.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

const introduction = `
# Profiles of the simulator

A quirk is a difference from \`generic\`, as a property of \`src/profiles.ts\`, where each is described.

`;

const firmwareText = `
## Firmware updates

Properties of \`src/firmware-profiles.ts\`, where each is described.

`;

const violationText = `
## Violations of the protocol

Quirks that fail assertions of DMTF's Redfish-Protocol-Validator. Profiles without them fail none.

`;

/** The quirks of each simulated BMC, and what they violate. */
export function profilePage(): GeneratedFile {
  const rows = vendors.map((vendor) => {
    const { manufacturer, model, bmcModel } = profiles[vendor];
    const quirks = quirksOf(profiles[vendor]).map(([name, value]) => code(`${name}: ${valueText(value)}`));
    return [code(vendor), `${manufacturer} ${model}, ${bmcModel}`, quirks.join(', '), failures(vendor)];
  });
  const violationRows = violations.map(({ quirk, isIn, assertions }) => [
    code(quirk),
    vendors
      .filter((vendor) => isIn(profiles[vendor]))
      .map(code)
      .join(', '),
    assertions.map(code).join(', '),
  ]);
  const text = [
    header,
    introduction,
    table(['Profile', 'BMC', 'Quirks', 'Failed assertions'], rows),
    firmwareText,
    table(
      ['Profile', 'Update service', 'Response', 'BIOS', 'BMC', 'Tasks after a restart', 'Firmware'],
      firmwareRows(),
    ),
    violationText,
    table(['Quirk', 'Profiles', 'Failed assertions'], violationRows),
  ];
  return { name: 'profiles.md', text: text.join('') };
}

function firmwareRows(): string[][] {
  return vendors.map((vendor) => {
    const { firmware } = profiles[vendor];
    if (firmware === undefined) return [code(vendor), 'none', '', '', '', '', ''];
    const { multipartUri, pushUri, pushUriIsOfVendor, accepts, bios, bmc, tasksSurviveRestart, parts } = firmware;
    const ways = [
      firmware.simpleUpdate ? 'SimpleUpdate' : [],
      multipartUri === undefined ? [] : `form at ${code(multipartUri)}`,
      pushUri === undefined || pushUriIsOfVendor ? [] : `body at ${code(pushUri)}`,
    ];
    const ids = parts.map(({ id }) => code(id)).join(', ');
    return [code(vendor), ways.flat().join(', '), accepts, bios, bmc, tasksSurviveRestart ? 'stay' : 'vanish', ids];
  });
}

const failures = (vendor: (typeof vendors)[number]): string => String(failedAssertions(profiles[vendor]).length);

/** A long list, for example of reset types, by its length. */
function valueText(value: unknown): string {
  if (value === undefined) return 'none';
  return Array.isArray(value) && value.length > 2 ? `${value.length} values` : JSON.stringify(value);
}
