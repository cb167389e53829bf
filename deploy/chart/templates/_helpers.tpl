{{/* Names and the selector are those of v0.7.0, so that its releases can be upgraded in place. */}}
{{- define "metal-operator.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "metal-operator.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* A name of at most 63 characters: list of the root and the suffix. */}}
{{- define "metal-operator.nameWith" -}}
{{- $suffix := index . 1 }}
{{- $room := sub 62 (len $suffix) | int }}
{{- printf "%s-%s" (include "metal-operator.fullname" (index . 0) | trunc $room | trimSuffix "-") $suffix }}
{{- end }}

{{- define "metal-operator.manager" -}}
{{- include "metal-operator.nameWith" (list . "controller-manager") }}
{{- end }}

{{- define "metal-operator.serviceAccount" -}}
{{- if .Values.serviceAccount.enable }}
{{- include "metal-operator.manager" . }}
{{- else }}
{{- .Values.serviceAccount.name | default (include "metal-operator.manager" .) }}
{{- end }}
{{- end }}

{{- define "metal-operator.managerNamespace" -}}
{{- .Values.managerNamespace | default .Release.Namespace }}
{{- end }}

{{- define "metal-operator.labels" }}
app.kubernetes.io/name: {{ include "metal-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "metal-operator.managerSelector" }}
app.kubernetes.io/name: {{ include "metal-operator.name" . }}
control-plane: controller-manager
{{- end }}

{{/* List of the root and the component. */}}
{{- define "metal-operator.componentSelector" }}
app.kubernetes.io/name: {{ include "metal-operator.name" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "metal-operator.image" -}}
{{- with .Values.manager.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else if contains "@" .repository }}
{{- .repository }}
{{- else }}
{{- printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "metal-operator.dhcpImage" -}}
{{- $repository := .Values.dhcp.image.repository | default .Values.manager.image.repository }}
{{- with .Values.dhcp.image }}
{{- if .digest }}
{{- printf "%s@%s" $repository .digest }}
{{- else }}
{{- printf "%s:%s" $repository (.tag | default (printf "%s-dhcp" ($.Values.manager.image.tag | default $.Chart.AppVersion))) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "metal-operator.servesMetadata" -}}
{{- if and .Values.metadata.enabled (eq .Values.metadata.mode "inProcess") }}true{{ end }}
{{- end }}

{{/* Secrets with certificates; empty without. */}}
{{- define "metal-operator.metricsCertSecret" -}}
{{- if and .Values.metrics.enable .Values.metrics.secure }}
{{- if .Values.metrics.certSecret }}
{{- .Values.metrics.certSecret }}
{{- else if .Values.certManager.enable }}
{{- include "metal-operator.nameWith" (list . "metrics-cert") }}
{{- end }}
{{- end }}
{{- end }}

{{- define "metal-operator.registryCertSecret" -}}
{{- if .Values.registry.enabled }}
{{- if .Values.registry.tls.secret }}
{{- .Values.registry.tls.secret }}
{{- else if and .Values.certManager.enable (hasPrefix "https://" .Values.registry.url) }}
{{- include "metal-operator.nameWith" (list . "registry-cert") }}
{{- end }}
{{- end }}
{{- end }}

{{- define "metal-operator.macPrefixesSecret" -}}
{{- if .Values.discovery.macPrefixesSecret }}
{{- .Values.discovery.macPrefixesSecret }}
{{- else if .Values.discovery.macPrefixes }}
{{- include "metal-operator.nameWith" (list . "mac-prefixes") }}
{{- end }}
{{- end }}

{{/* Without the credentials: whoever reads a hash of passwords can try passwords against it. */}}
{{- define "metal-operator.macPrefixesChecksum" -}}
{{- $devices := list }}
{{- range .Values.discovery.macPrefixes }}
{{- $devices = append $devices (omit . "defaultCredentials") }}
{{- end }}
{{- toJson $devices | sha256sum }}
{{- end }}

{{/* The environment as a list; envOverrides replace entries of the same name. */}}
{{- define "metal-operator.env" -}}
{{- range .Values.manager.env }}
{{- if not (hasKey $.Values.manager.envOverrides .name) }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.manager.envOverrides }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "metal-operator.hasEnv" -}}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- if hasKey $root.Values.manager.envOverrides $name }}true{{ end }}
{{- range $root.Values.manager.env }}
{{- if eq .name $name }}true{{ end }}
{{- end }}
{{- end }}
