import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { OperatorContext } from '../context.ts';
import { missingKeyOf } from '../../bmc-connections/credentials.ts';
import { type Conversion, isConvertible, planConversion } from '../../bmc-connections/bmc-secret-conversion.ts';
import type { BmcSecretReason } from './reasons.ts';

/** It has no status: there is but one phase. */
export type BmcSecretPhase = 'Present';
export type BmcSecretAction = 'convert' | 'recordProblemEvent';

export interface BmcSecretFacts {
  readonly conversion: Conversion;
  readonly isConvertible: boolean;
  readonly problem: { readonly reason: BmcSecretReason; readonly message: string } | undefined;
  /** The complaint was told by this process. */
  readonly isReported: boolean;
}

export function readBmcSecretFacts(secret: BMCSecret, { reportedWarnings, config }: OperatorContext): BmcSecretFacts {
  const conversion = planConversion(secret);
  const problem = problemOf(secret, conversion);
  return {
    conversion,
    isConvertible: isConvertible(secret, config),
    problem,
    isReported: problem === undefined || reportedWarnings.wasReported(secret.metadata.uid ?? '', problem.message),
  };
}

function problemOf(secret: BMCSecret, { ambiguous }: Conversion): BmcSecretFacts['problem'] {
  const missing = missingKeyOf(secret);
  if (missing !== undefined)
    return {
      reason: 'BMCSecretIncomplete',
      message: `key ${missing} has no value in data or stringData; whatever refers to this BMCSecret cannot log in until it has`,
    };
  if (ambiguous.length === 0) return undefined;
  return {
    reason: 'StringDataAmbiguous',
    message: `data and stringData differ in ${ambiguous.join(', ')}; data counts. Remove one of them`,
  };
}
