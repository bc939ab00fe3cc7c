#!/usr/bin/env bash
# Deploy, start and search over HTTP, beside a server that `make run` started.
set -euo pipefail
cd "$(dirname "$0")"
server=${1:-http://localhost:8080}

token=$(curl -sSf "$server/auth/v1/oidc/token" -u demo:demo-secret -d grant_type=client_credentials |
  sed 's/.*"access_token": *"\([^"]*\)".*/\1/')

curl -sSf "$server/v2/deployments" -H "Authorization: Bearer $token" -F resources=@order-fulfilment.bpmn
echo

curl -sSf "$server/v2/process-instances" -H "Authorization: Bearer $token" -H "Content-Type: application/json" -d '{
  "processDefinitionId": "order-fulfilment",
  "variables": {
    "order": {"number": 1, "customer": "c-1", "items": [{"article": "pen", "quantity": 2, "price": 1.5}]}
  }
}'
echo

curl -sSf "$server/v2/process-instances/search" -H "Authorization: Bearer $token" -H "Content-Type: application/json" -d '{
  "filter": {"processDefinitionId": "order-fulfilment", "state": "ACTIVE"}
}'
echo
