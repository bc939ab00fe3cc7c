// Works with a Gnomon server as users of Zeebe's Go client do.
//
// Arguments: host and port of its gRPC listener, its token endpoint, the folder of the examples, and a folder for files.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	process  = "order-fulfilment"
	number   = 50
	patience = 60 * time.Second
	// A worker ends with its poll.
	pollTime = 2 * time.Second
	unknown  = int64(1) << 40
)

type variables = map[string]interface{}

// check prints a line: the result, the name and what went wrong. A failed check does not keep the next ones from running.
func check(name string, run func() error) {
	if err := run(); err != nil {
		fmt.Printf("failed\t%s\t%s\n", name, strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	fmt.Printf("passed\t%s\t\n", name)
}

func same(expected, found interface{}) error {
	if reflect.DeepEqual(expected, found) {
		return nil
	}
	return fmt.Errorf("expected %v, found %v", expected, found)
}

func refused(code codes.Code, err error) error {
	return same(code, status.Code(err))
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func order(n int) variables {
	item := variables{"article": "book", "quantity": n + 2, "price": 1}
	priority := "normal"
	if n%2 == 0 {
		priority = "express"
	}
	customer := fmt.Sprintf("c-%d", n)
	return variables{"number": n, "priority": priority, "order": variables{"customer": customer, "items": []variables{item}}}
}

// shop opens workers for orders, which count the orders that have ended.
func shop(client zbc.Client, ended *atomic.Int64) []worker.JobWorker {
	results := map[string]func(variables) variables{
		"check-stock":     func(v variables) variables { return variables{"inStock": int(v["number"].(float64))%5 != 4} },
		"charge-card":     func(v variables) variables { return variables{"transactionId": fmt.Sprintf("t-%v", v["number"])} },
		"ship-order":      func(variables) variables { return variables{} },
		"notify-customer": func(variables) variables { return variables{} },
	}
	var workers []worker.JobWorker
	for jobType, result := range results {
		workers = append(workers, client.NewJobWorker().JobType(jobType).Handler(func(jobs worker.JobClient, job entities.Job) {
			given, err := job.GetVariablesAsMap()
			if err != nil {
				return
			}
			completion, err := jobs.NewCompleteJobCommand().JobKey(job.GetKey()).VariablesFromMap(result(given))
			if err != nil {
				return
			}
			if _, err := completion.Send(context.Background()); err == nil && len(result(given)) == 0 {
				ended.Add(1)
			}
		}).RequestTimeout(pollTime).Open())
	}
	return workers
}

func main() {
	address, tokenURL, examples, files := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	credentials, err := zbc.NewOAuthCredentialsProvider(&zbc.OAuthProviderConfig{
		ClientID:               "demo",
		ClientSecret:           "demo-secret",
		AuthorizationServerURL: tokenURL,
		Audience:               "gnomon",
	})
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("ZEEBE_CLIENT_CONFIG_PATH", filepath.Join(files, "credentials"))
	client, err := zbc.NewClient(&zbc.ClientConfig{
		GatewayAddress: address, UsePlaintextConnection: true, CredentialsProvider: credentials,
	})
	if err != nil {
		panic(err)
	}
	defer func() { _ = client.Close() }()
	run(client, examples)
	change(client, direct{address, tokenURL, credentials})
}

func run(client zbc.Client, examples string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	check("each partition has a healthy leader", func() error {
		topology, err := client.NewTopologyCommand().Send(ctx)
		if err != nil {
			return err
		}
		count := 0
		for _, broker := range topology.Brokers {
			for _, partition := range broker.Partitions {
				count++
				if err := first(
					same(pb.Partition_LEADER, partition.Role), same(pb.Partition_HEALTHY, partition.Health),
				); err != nil {
					return err
				}
			}
		}
		return same(int(topology.PartitionsCount), count)
	})
	check("processes are deployed", func() error {
		answer, err := client.NewDeployResourceCommand().
			AddResourceFile(filepath.Join(examples, process+".bpmn")).
			AddResourceFile(filepath.Join(examples, "invoice-payment.bpmn")).Send(ctx)
		if err != nil {
			return err
		}
		return same(process, answer.Deployments[0].GetProcess().BpmnProcessId)
	})
	check("workers work off fifty orders, and a result is awaited", func() error {
		var ended atomic.Int64
		workers := shop(client, &ended)
		for n := 0; n < number; n++ {
			if err := create(ctx, client, process, order(n)); err != nil {
				return err
			}
		}
		for end := time.Now().Add(patience); ended.Load() < number && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		command, err := client.NewCreateInstanceCommand().BPMNProcessId(process).LatestVersion().VariablesFromMap(order(1))
		if err != nil {
			return err
		}
		answer, err := command.WithResult().FetchVariables("payment").Send(ctx)
		if err != nil {
			return err
		}
		for _, each := range workers {
			each.Close()
		}
		for _, each := range workers {
			each.AwaitClose()
		}
		return first(
			same(int64(number+1), ended.Load()),
			same(`{"payment":{"transactionId":"t-1","amount":3}}`, answer.Variables),
		)
	})
	check("a job is failed, activated again and completed, and gone then", func() error {
		if err := create(ctx, client, "invoice-payment", variables{"invoice": variables{"account": "a-1", "amount": 20}}); err != nil {
			return err
		}
		activate := client.NewActivateJobsCommand().JobType("transfer-money").MaxJobsToActivate(1).
			Timeout(time.Minute).WorkerName("by hand").FetchVariables("amount")
		jobs, err := activate.Send(ctx)
		if err != nil {
			return err
		}
		key := jobs[0].Key
		if _, err := client.NewFailJobCommand().JobKey(key).Retries(2).ErrorMessage("again").Send(ctx); err != nil {
			return err
		}
		again, err := activate.Send(ctx)
		if err != nil {
			return err
		}
		if _, err := client.NewUpdateJobRetriesCommand().JobKey(key).Retries(5).Send(ctx); err != nil {
			return err
		}
		if _, err := client.NewCompleteJobCommand().JobKey(key).Send(ctx); err != nil {
			return err
		}
		_, gone := client.NewCompleteJobCommand().JobKey(key).Send(ctx)
		return first(
			same(`{"amount":20}`, jobs[0].Variables), same(key, again[0].Key), same(int32(2), again[0].Retries),
			refused(codes.NotFound, gone),
		)
	})
	check("a message is published once, and a signal is broadcast", func() error {
		message := client.NewPublishMessageCommand().MessageName("paid").CorrelationKey("o-1").MessageId("m-1").
			TimeToLive(time.Minute)
		_, err := message.Send(ctx)
		_, again := message.Send(ctx)
		_, signal := client.NewBroadcastSignalCommand().SignalName("alarm").Send(ctx)
		return first(err, refused(codes.AlreadyExists, again), signal)
	})
	check("what is unknown or faulty is refused", func() error {
		_, cancelled := client.NewCancelInstanceCommand().ProcessInstanceKey(unknown).Send(ctx)
		_, resolved := client.NewResolveIncidentCommand().IncidentKey(unknown).Send(ctx)
		_, created := client.NewCreateInstanceCommand().BPMNProcessId("none").LatestVersion().Send(ctx)
		_, deployed := client.NewDeployResourceCommand().AddResource([]byte("<bpmn:definitions"), "broken.bpmn").Send(ctx)
		return first(
			refused(codes.NotFound, cancelled), refused(codes.NotFound, resolved), refused(codes.NotFound, created),
			refused(codes.InvalidArgument, deployed),
		)
	})
}

func create(ctx context.Context, client zbc.Client, id string, given variables) error {
	command, err := client.NewCreateInstanceCommand().BPMNProcessId(id).LatestVersion().VariablesFromMap(given)
	if err != nil {
		return err
	}
	_, err = command.Send(ctx)
	return err
}
