import type { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';

type Selector = FirmwareVersion['spec']['component'];

/** All fields of the selector match. */
export function matchesComponent(
  { id, name = '', manufacturer = '' }: Pick<FirmwareComponent, 'id' | 'name' | 'manufacturer'>,
  selector: Selector,
): boolean {
  const matches = [
    selector.id === undefined || selector.id === id,
    selector.name === undefined || selector.name === name,
    selector.manufacturer === undefined || selector.manufacturer.toLowerCase() === manufacturer.toLowerCase(),
    selector.pattern === undefined || [id, name].some((text) => matchesPattern(text, selector.pattern ?? '')),
  ];
  return matches.every(Boolean);
}

/** `*` stands for any text. Without a regular expression: its run time must not depend on the pattern of a user. */
function matchesPattern(text: string, pattern: string): boolean {
  const [start = '', ...rest] = pattern.toLowerCase().split('*');
  const subject = text.toLowerCase();
  const end = rest.pop();
  if (end === undefined) return subject === start;
  if (!subject.startsWith(start) || !subject.endsWith(end) || subject.length < start.length + end.length) return false;
  let position = start.length;
  for (const middle of rest) {
    const found = subject.indexOf(middle, position);
    if (found < 0 || found + middle.length > subject.length - end.length) return false;
    position = found + middle.length;
  }
  return true;
}
