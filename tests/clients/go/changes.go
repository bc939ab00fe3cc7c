package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

const route = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="urn:test">
  <bpmn:process id="route" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="first" />
    <bpmn:serviceTask id="first">
      <bpmn:extensionElements><zeebe:taskDefinition type="leg" retries="1" /></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="f2" sourceRef="first" targetRef="last" />
    <bpmn:serviceTask id="last">
      <bpmn:extensionElements><zeebe:taskDefinition type="last-leg" retries="1" /></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="f3" sourceRef="last" targetRef="end" />
    <bpmn:endEvent id="end" />
  </bpmn:process>
</bpmn:definitions>`

// direct has what callers need beside the client: its credentials for the generated stub, and the HTTP API.
type direct struct {
	address, tokenURL string
	credentials       zbc.CredentialsProvider
}

func (d direct) authorization(ctx context.Context) (string, error) {
	headers := map[string]string{}
	if err := d.credentials.ApplyCredentials(ctx, headers); err != nil {
		return "", err
	}
	return headers["Authorization"], nil
}

// modify sends what the client has no command for.
func (d direct) modify(ctx context.Context, request *pb.ModifyProcessInstanceRequest) error {
	authorization, err := d.authorization(ctx)
	if err != nil {
		return err
	}
	connection, err := grpc.Dial(d.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
	_, err = pb.NewGatewayClient(connection).ModifyProcessInstance(ctx, request)
	return err
}

// incident asks over HTTP: no call of Zeebe's gateway finds one.
func (d direct) incident(ctx context.Context, instance int64) (int64, error) {
	authorization, err := d.authorization(ctx)
	if err != nil {
		return 0, err
	}
	address, _, _ := strings.Cut(d.tokenURL, "/auth/")
	asked := fmt.Sprintf(`{"filter": {"processInstanceKey": "%d", "state": "ACTIVE"}}`, instance)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v2/incidents/search", bytes.NewBufferString(asked))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", authorization)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	var found struct {
		Items []struct{ IncidentKey, ErrorMessage string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return 0, err
	}
	if len(found.Items) != 1 || found.Items[0].ErrorMessage != "no fuel" {
		return 0, fmt.Errorf("expected the incident, found %v", found)
	}
	return strconv.ParseInt(found.Items[0].IncidentKey, 10, 64)
}

func change(client zbc.Client, beside direct) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	begin := func() (int64, error) {
		answer, err := client.NewCreateInstanceCommand().BPMNProcessId("route").LatestVersion().Send(ctx)
		if err != nil {
			return 0, err
		}
		return answer.ProcessInstanceKey, nil
	}
	activate := func(jobType string) (entities.Job, error) {
		jobs, err := client.NewActivateJobsCommand().JobType(jobType).MaxJobsToActivate(1).
			Timeout(time.Minute).WorkerName("by hand").Send(ctx)
		if err != nil || len(jobs) != 1 {
			return entities.Job{}, fmt.Errorf("expected a job of %s, found %v, %v", jobType, jobs, err)
		}
		return jobs[0], nil
	}
	check("an incident is resolved", func() error {
		if _, err := client.NewDeployResourceCommand().AddResource([]byte(route), "route.bpmn").Send(ctx); err != nil {
			return err
		}
		instance, err := begin()
		if err != nil {
			return err
		}
		job, err := activate("leg")
		if err != nil {
			return err
		}
		if _, err := client.NewFailJobCommand().JobKey(job.Key).Retries(0).ErrorMessage("no fuel").Send(ctx); err != nil {
			return err
		}
		incident, err := beside.incident(ctx, instance)
		if err != nil {
			return err
		}
		if _, err := client.NewUpdateJobRetriesCommand().JobKey(job.Key).Retries(1).Send(ctx); err != nil {
			return err
		}
		if _, err := client.NewResolveIncidentCommand().IncidentKey(incident).Send(ctx); err != nil {
			return err
		}
		again, err := activate("leg")
		_, cancelled := client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(ctx)
		return first(err, same(job.Key, again.Key), cancelled)
	})
	check("variables are set, and an instance is modified", func() error {
		instance, err := begin()
		if err != nil {
			return err
		}
		command, err := client.NewSetVariablesCommand().ElementInstanceKey(instance).VariablesFromMap(variables{"load": 2})
		if err != nil {
			return err
		}
		if _, err := command.Send(ctx); err != nil {
			return err
		}
		job, err := activate("leg")
		if err != nil {
			return err
		}
		if err := beside.modify(ctx, &pb.ModifyProcessInstanceRequest{
			ProcessInstanceKey:    instance,
			ActivateInstructions:  []*pb.ModifyProcessInstanceRequest_ActivateInstruction{{ElementId: "last"}},
			TerminateInstructions: []*pb.ModifyProcessInstanceRequest_TerminateInstruction{{ElementInstanceKey: job.ElementInstanceKey}},
		}); err != nil {
			return err
		}
		moved, err := activate("last-leg")
		if err != nil {
			return err
		}
		_, completed := client.NewCompleteJobCommand().JobKey(moved.Key).Send(ctx)
		return first(same(`{"load":2}`, job.Variables), same(instance, moved.ProcessInstanceKey), same("last", moved.ElementId), completed)
	})
}
