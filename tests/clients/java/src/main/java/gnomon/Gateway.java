package gnomon;

import static gnomon.Checks.eventually;
import static gnomon.Checks.same;

import io.camunda.client.CamundaClient;
import io.camunda.client.CredentialsProvider;
import io.camunda.client.api.command.ClientStatusException;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.PartitionBrokerHealth;
import io.camunda.client.api.response.PartitionBrokerRole;
import io.camunda.client.api.search.enums.ProcessInstanceState;
import io.grpc.Status;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Works with a Gnomon server as users of Camunda's Java client do who let it send commands over gRPC.
 *
 * <p>Arguments: those of Main, and the address of the gRPC listener.
 */
public final class Gateway {
  private static final String PROCESS = "invoice-payment";
  private static final String JOB_TYPE = "transfer-money";
  private static final long UNKNOWN = 1L << 40;

  private final CamundaClient client;
  private final Checks checks;
  private final Path examples;
  private final Path model;
  private long definitionKey;

  private Gateway(final CamundaClient client, final Checks checks, final Path examples) {
    this.client = client;
    this.checks = checks;
    this.examples = examples;
    model = examples.resolve(PROCESS + ".bpmn");
  }

  public static void main(final String[] arguments) {
    final Path examples = Path.of(arguments[2]);
    final CredentialsProvider credentials =
        CredentialsProvider.newCredentialsProviderBuilder()
            .authorizationServerUrl(arguments[1])
            .audience("gnomon")
            .clientId("demo")
            .clientSecret("demo-secret")
            .credentialsCachePath(Path.of(arguments[3], "credentials").toString())
            .build();
    final Checks checks = new Checks();
    try (CamundaClient client =
        CamundaClient.newClientBuilder()
            .restAddress(URI.create(arguments[0]))
            .grpcAddress(URI.create("http://" + arguments[4]))
            .preferRestOverGrpc(false)
            .credentialsProvider(credentials)
            .build()) {
      new Orders(client, checks, examples).run();
      new Gateway(client, checks, examples).run();
    }
  }

  private void run() {
    topology();
    jobs();
    instances();
    events();
    decisions();
    refusals();
    // A stream that was closed may still get a job, so that no later check has jobs of the type.
    stream();
  }

  private void topology() {
    checks.check("each partition has a healthy leader", () -> {
      final var topology = client.newTopologyRequest().useGrpc().send().join();
      final var partitions = topology.getBrokers().stream().flatMap(b -> b.getPartitions().stream()).toList();
      same(topology.getPartitionsCount(), partitions.size());
      same(true, partitions.stream().allMatch(p ->
          p.getRole() == PartitionBrokerRole.LEADER && p.getHealth() == PartitionBrokerHealth.HEALTHY));
    });
    checks.check("a process is deployed over gRPC", () -> {
      final var deployment = client.newDeployResourceCommand().useGrpc().addResourceFile(model.toString()).send().join();
      definitionKey = deployment.getProcesses().get(0).getProcessDefinitionKey();
      same("default", deployment.getTenantId());
    });
  }

  private void jobs() {
    checks.check("a job is activated, failed with a back-off, and activated again over gRPC", () -> {
      final long key = created();
      final ActivatedJob first = activated();
      same(key, first.getProcessInstanceKey());
      same(Set.of("amount"), first.getVariablesAsMap().keySet());
      client.newFailCommand(first).useGrpc().retries(2).retryBackoff(Duration.ofMillis(50)).errorMessage("again")
          .variables(Map.of("code", 51)).send().join();
      final ActivatedJob second = activated();
      same(first.getKey(), second.getKey());
      same(2, second.getRetries());
      client.newUpdateTimeoutCommand(second).useGrpc().timeout(Duration.ofMinutes(5)).send().join();
      client.newUpdateRetriesCommand(second).useGrpc().retries(5).send().join();
      client.newCompleteCommand(second).useGrpc().send().join();
      refused(Status.Code.NOT_FOUND, () -> client.newCompleteCommand(second).useGrpc().send().join());
    });
    checks.check("an error that nothing catches becomes an incident, which is resolved over gRPC", () -> {
      final long key = created();
      client.newThrowErrorCommand(activated()).useGrpc().errorCode("unknown").errorMessage("no such article").send().join();
      final var incident = client.newIncidentSearchRequest().filter(f -> f.processInstanceKey(key)).send().join().items().get(0);
      client.newResolveIncidentCommand(incident.getIncidentKey()).useGrpc().send().join();
      client.newCancelInstanceCommand(key).useGrpc().send().join();
    });
    checks.check("an activation that finds nothing is empty", () ->
        same(0, client.newActivateJobsCommand().useGrpc().jobType("none").maxJobsToActivate(1)
            .requestTimeout(Duration.ofMillis(200)).send().join().getJobs().size()));
  }

  private void instances() {
    checks.check("an instance is created by the key of its definition and cancelled, once", () -> {
      final var created = client.newCreateInstanceCommand().useGrpc().processDefinitionKey(definitionKey)
          .variables(variables()).tags("grpc").businessId("g-1").send().join();
      same(1, created.getVersion());
      same(Set.of("grpc"), created.getTags());
      same("g-1", created.getBusinessId());
      client.newCancelInstanceCommand(created.getProcessInstanceKey()).useGrpc().send().join();
      same(ProcessInstanceState.TERMINATED,
          client.newProcessInstanceGetRequest(created.getProcessInstanceKey()).send().join().getState());
      refused(Status.Code.NOT_FOUND, () ->
          client.newCancelInstanceCommand(created.getProcessInstanceKey()).useGrpc().send().join());
    });
    checks.check("an instance begins before an element and ends after it", () -> {
      final var created = client.newCreateInstanceCommand().useGrpc().bpmnProcessId(PROCESS).latestVersion()
          .startBeforeElement("register-invoice").terminateAfterElement("register-invoice").send().join();
      same(ProcessInstanceState.TERMINATED,
          client.newProcessInstanceGetRequest(created.getProcessInstanceKey()).send().join().getState());
    });
    checks.check("variables of an instance are set", () -> {
      final long key = created();
      client.newSetVariablesCommand(key).useGrpc().variables(Map.of("checked", true)).local(true).send().join();
      same("true", client.newVariableSearchRequest().filter(f -> f.processInstanceKey(key).name("checked"))
          .send().join().items().get(0).getValue());
      client.newCancelInstanceCommand(key).send().join();
    });
    checks.check("an instance is modified", () -> {
      final long key = created();
      client.newModifyProcessInstanceCommand(key).useGrpc()
          .activateElement(JOB_TYPE).withVariables(Map.of("again", true), JOB_TYPE)
          .and().terminateElements(JOB_TYPE).send().join();
      same(2L, client.newElementInstanceSearchRequest()
          .filter(f -> f.processInstanceKey(key).elementId(JOB_TYPE)).send().join().page().totalItems());
      client.newModifyProcessInstanceCommand(key).useGrpc()
          .moveElementsWithSourceParentAsAncestor(JOB_TYPE, JOB_TYPE).send().join();
      same(3L, client.newElementInstanceSearchRequest()
          .filter(f -> f.processInstanceKey(key).elementId(JOB_TYPE)).send().join().page().totalItems());
      client.newCancelInstanceCommand(key).send().join();
    });
    checks.check("an instance is migrated, and its definition deleted", () -> {
      final long key = created();
      final String changed = Files.readString(model).replace("\"transfer-money\"", "\"pay\"");
      final var deployment = client.newDeployResourceCommand()
          .addResourceString(changed, StandardCharsets.UTF_8, model.toString()).send().join();
      final long target = deployment.getProcesses().get(0).getProcessDefinitionKey();
      client.newMigrateProcessInstanceCommand(key).useGrpc().migrationPlan(target)
          .addMappingInstruction("transfer-money", "pay").send().join();
      same(2, client.newProcessInstanceGetRequest(key).send().join().getProcessDefinitionVersion());
      client.newCancelInstanceCommand(key).send().join();
      client.newDeleteResourceCommand(target).useGrpc().send().join();
      refused(Status.Code.NOT_FOUND, () -> client.newDeleteResourceCommand(target).useGrpc().send().join());
    });
  }

  private void events() {
    checks.check("a message is published once", () -> {
      same("default", published("m-1").getTenantId());
      refused(Status.Code.ALREADY_EXISTS, () -> published("m-1"));
    });
    checks.check("a signal is broadcast", () ->
        same("default", client.newBroadcastSignalCommand().useGrpc().signalName("alarm")
            .variables(Map.of("floor", 2)).send().join().getTenantId()));
    checks.check("conditions are evaluated", () ->
        same(0, client.newEvaluateConditionalCommand().useGrpc().variables(Map.of("degrees", 40))
            .send().join().getProcessInstances().size()));
  }

  private void decisions() {
    checks.check("a decision is deployed and evaluated over gRPC", () -> {
      final var deployment = client.newDeployResourceCommand().useGrpc()
          .addResourceFile(examples.resolve("pricing.dmn").toString()).send().join();
      same(2, deployment.getDecisions().size());
      same(1, deployment.getDecisionRequirements().size());
      final var evaluation = client.newEvaluateDecisionCommand().useGrpc().decisionId("discount")
          .variables(Map.of("customer", "regular", "amount", 120)).send().join();
      same("10", evaluation.getDecisionOutput());
      same(2, evaluation.getEvaluatedDecisions().size());
    });
    checks.check("an unknown decision is not found", () ->
        refused(Status.Code.NOT_FOUND, () ->
            client.newEvaluateDecisionCommand().useGrpc().decisionId("none").send().join()));
  }

  private void refusals() {
    checks.check("an unknown process is not found", () ->
        refused(Status.Code.NOT_FOUND, () ->
            client.newCreateInstanceCommand().useGrpc().bpmnProcessId("none").latestVersion().send().join()));
    checks.check("an unknown job is not found", () ->
        refused(Status.Code.NOT_FOUND, () -> client.newCompleteCommand(UNKNOWN).useGrpc().send().join()));
    checks.check("a faulty process is invalid", () ->
        refused(Status.Code.INVALID_ARGUMENT, () -> client.newDeployResourceCommand().useGrpc()
            .addResourceString("<bpmn:definitions", StandardCharsets.UTF_8, "broken.bpmn").send().join()));
    checks.check("variables that are no object are invalid", () -> {
      refused(Status.Code.INVALID_ARGUMENT, () -> client.newCreateInstanceCommand().useGrpc()
          .bpmnProcessId(PROCESS).latestVersion().variables("[1]").send().join());
    });
    checks.check("a result for a listener is invalid for another job", () -> {
      final long key = created();
      final ActivatedJob job = activated();
      refused(Status.Code.INVALID_ARGUMENT, () ->
          client.newCompleteCommand(job).useGrpc().withResult(r -> r.forUserTask().deny(true)).send().join());
      client.newCancelInstanceCommand(key).send().join();
    });
    checks.check("a tenant of others is denied", () ->
        refused(Status.Code.PERMISSION_DENIED, () -> client.newCreateInstanceCommand().useGrpc()
            .bpmnProcessId(PROCESS).latestVersion().tenantId("other").send().join()));
  }

  private void stream() {
    checks.check("a worker that reads a stream completes what comes", () -> {
      final AtomicInteger done = new AtomicInteger();
      try (var worker = client.newWorker().jobType(JOB_TYPE).handler((jobs, job) -> {
        jobs.newCompleteCommand(job).send().join();
        done.incrementAndGet();
      }).streamEnabled(true).open()) {
        for (int number = 0; number < 10; number++) {
          created();
        }
        eventually(10, done::get);
      }
    });
  }

  /** The call ends with this status code. */
  private static void refused(final Status.Code code, final Checks.Check call) throws Exception {
    try {
      call.run();
    } catch (final ClientStatusException refusal) {
      same(code, refusal.getStatusCode());
      return;
    }
    throw new AssertionError("expected " + code + ", found an answer");
  }

  private io.camunda.client.api.response.PublishMessageResponse published(final String id) {
    return client.newPublishMessageCommand().useGrpc().messageName("paid").correlationKey("o-1").messageId(id)
        .timeToLive(Duration.ofMinutes(1)).send().join();
  }

  private static Map<String, Object> variables() {
    return Map.of("invoice", Map.of("account", "a-1", "amount", 20));
  }

  private long created() {
    return client.newCreateInstanceCommand().useGrpc().bpmnProcessId(PROCESS).version(1)
        .variables(variables()).send().join().getProcessInstanceKey();
  }

  private ActivatedJob activated() {
    return client.newActivateJobsCommand().useGrpc().jobType(JOB_TYPE).maxJobsToActivate(1)
        .timeout(Duration.ofMinutes(1)).workerName("by hand").fetchVariables("amount")
        .requestTimeout(Duration.ofSeconds(20)).send().join().getJobs().get(0);
  }
}
