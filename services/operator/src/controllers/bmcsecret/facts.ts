import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { OperatorContext } from '../context.ts';
import { missingKeyOf } from '../../bmc-connections/credentials.ts';
import { type Conversion, isConvertible, planConversion } from '../../bmc-connections/bmc-secret-conversion.ts';
import type { BmcSecretReason } from './reasons.ts';

/** A BMCSecret has no status, so it has one phase. */
export type BmcSecretPhase = 'Present';
export type BmcSecretAction = 'convert' | 'recordProblemEvent';

export interface BmcSecretFacts {
  readonly conversion: Conversion;
  readonly isConvertible: boolean;
  readonly problem: { readonly reason: BmcSecretReason; readonly message: string } | undefined;
  /** This process has recorded an event for this problem. */
  readonly isReported: boolean;
}

export interface BmcSecretMemory {
  /** Message of the last Warning event. */
  reportedMessage: string | undefined;
}

export function readBmcSecretFacts(
  secret: BMCSecret,
  { config }: OperatorContext,
  { memory }: { readonly memory: Readonly<BmcSecretMemory> },
): BmcSecretFacts {
  const conversion = planConversion(secret);
  const problem = problemOf(secret, conversion);
  return {
    conversion,
    isConvertible: isConvertible(secret, config),
    problem,
    isReported: problem === undefined || memory.reportedMessage === problem.message,
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
