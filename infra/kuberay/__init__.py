"""Kubernetes manifests for KubeRay, and what checks them: `python -m infra.kuberay.check`."""
