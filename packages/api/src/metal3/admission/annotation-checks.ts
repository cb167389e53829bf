import type { AdmissionCheck } from '@metal/kube/kinds/admission.ts';
import { errorTypes, operationalStatuses } from '../bare-metal-host-status.ts';
import {
  hardwareDetailsAnnotation,
  inspectAnnotation,
  rebootAnnotation,
  statusAnnotation,
} from '../metal3-contract.ts';
import { annotation, only, setsAnnotation } from './cel-text.ts';

/** CEL has no JSON parser: the controller checks the content. */
const jsonObject = String.raw`^(?s)\s*\{.*\}\s*$`;

const isRebootKey = `(key == '${rebootAnnotation}' || key.startsWith('${rebootAnnotation}/'))`;
const reboot = 'variables.annotations[key]';
const isReboot =
  `(${reboot} == '' || (${reboot}.matches(r'${jsonObject}') && ` +
  `${reboot}.findAll(r'(?i)"mode"\\s*:\\s*"[^"]*"').all(mode, mode.matches(r'(?i)"mode"\\s*:\\s*"(hard|soft|)"'))))`;

/** Reboot requests that a controller could not carry out as they are meant. */
export const rebootChecks: readonly AdmissionCheck[] = [
  {
    holds: `variables.annotations.all(key, !${isRebootKey} || !${setsAnnotation('key')} || ${isReboot})`,
    message: `'metadata.annotations[${rebootAnnotation}]: expected no text, or JSON such as {"mode":"hard","force":false} with mode hard or soft'`,
  },
];

/** Every value of the member in the JSON of the annotation is one of these. */
function allows(member: string, values: readonly string[]): string {
  const found = `${annotation(statusAnnotation)}.findAll(r'"${member}"\\s*:\\s*"[^"]*"')`;
  return `${found}.all(found, found.matches(r'"(${values.join('|')})"$'))`;
}

export const annotationChecks: readonly AdmissionCheck[] = [
  ...rebootChecks,
  ...only(setsAnnotation(`'${statusAnnotation}'`), [
    {
      holds: `${annotation(statusAnnotation)}.matches(r'${jsonObject}')`,
      message: `'metadata.annotations[${statusAnnotation}]: expected the status of a BareMetalHost as a JSON object'`,
    },
    {
      holds: allows('operationalStatus', operationalStatuses),
      message: `'metadata.annotations[${statusAnnotation}]: unknown operationalStatus: expected one of ${operationalStatuses.filter((status) => status !== '').join(', ')}'`,
    },
    {
      holds: allows('errorType', ['', ...errorTypes]),
      message: `'metadata.annotations[${statusAnnotation}]: unknown errorType: expected one of ${errorTypes.join(', ')}'`,
    },
  ]),
  ...only(setsAnnotation(`'${inspectAnnotation}'`), [
    {
      holds: `${annotation(inspectAnnotation)} in ['', 'disabled']`,
      message: `'metadata.annotations[${inspectAnnotation}]: expected no text (inspect again) or disabled, found "' + ${annotation(inspectAnnotation)} + '"'`,
    },
  ]),
  ...only(setsAnnotation(`'${hardwareDetailsAnnotation}'`), [
    {
      holds: `${annotation(hardwareDetailsAnnotation)}.matches(r'${jsonObject}')`,
      message: `'metadata.annotations[${hardwareDetailsAnnotation}]: expected status.hardware of a BareMetalHost as a JSON object'`,
    },
    {
      holds: 'variables.isInspectionDisabled',
      message: `'metadata.annotations[${hardwareDetailsAnnotation}]: expected a host without inspection: set spec.inspectionMode to disabled'`,
    },
  ]),
];
