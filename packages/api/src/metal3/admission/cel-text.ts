import type { AdmissionCheck } from '@metal/kube/kinds/admission.ts';

/** CEL for a list of texts. */
export const listOf = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

/** CEL: the member, or the default if the object does not have it. */
export const memberOr = (object: string, member: string, byDefault: string): string =>
  `(has(${object}.${member}) ? ${object}.${member} : ${byDefault})`;

/** Holds also for requests that the checks do not concern. */
export const only = (concerned: string, checks: readonly AdmissionCheck[]): AdmissionCheck[] =>
  checks.map(({ holds, message }) => ({ holds: `!(${concerned}) || (${holds})`, message }));

export const isCreated = `request.operation == 'CREATE'`;
/** Requests with another spec: annotations, labels and finalizers of an object that violates the rule already stay writable. */
export const specChanges = `${isCreated} || object.spec != oldObject.spec`;

const annotationsOf = (object: string): string =>
  `(has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {})`;
/** Annotations before and after the request, as variables `annotations` and `oldAnnotations`. */
export const annotationVariables = {
  annotations: annotationsOf('object'),
  oldAnnotations: `${isCreated} ? {} : ${annotationsOf('oldObject')}`,
};
export const annotation = (key: string): string =>
  `('${key}' in variables.annotations ? variables.annotations['${key}'] : '')`;
/** The request sets the annotation with this key (CEL), or changes its value. */
export const setsAnnotation = (key: string): string =>
  `(${key} in variables.annotations && !(${key} in variables.oldAnnotations && variables.oldAnnotations[${key}] == variables.annotations[${key}]))`;
