package gnomon;

import static gnomon.Checks.refused;
import static gnomon.Checks.same;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.search.enums.IncidentErrorType;
import io.camunda.client.api.search.enums.ProcessInstanceState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** Reads by key, jobs without a worker, and what happens to a process instance from outside. */
final class Commands {
  private static final String PROCESS = "invoice-payment";
  private static final String JOB_TYPE = "transfer-money";

  private final CamundaClient client;
  private final Checks checks;
  private final Orders orders;
  private final Path model;

  Commands(final CamundaClient client, final Checks checks, final Orders orders, final Path examples) {
    this.client = client;
    this.checks = checks;
    this.orders = orders;
    model = examples.resolve(PROCESS + ".bpmn");
  }

  void run() {
    client.newDeployResourceCommand().addResourceFile(model.toString()).send().join();
    reads();
    jobs();
    instances();
    refusals();
  }

  private void reads() {
    final long key = orders.keys.get(10);
    checks.check("a process instance is read by its key", () -> {
      final var found = client.newProcessInstanceGetRequest(key).send().join();
      same("java-10", found.getBusinessId());
      same(Set.of("java"), found.getTags());
      same(true, found.getHasIncident());
    });
    checks.check("an incident, its element and a variable are read by their keys", () -> {
      final var listed = client.newIncidentSearchRequest().filter(f -> f.processInstanceKey(key)).send().join().items().get(0);
      final var incident = client.newIncidentGetRequest(listed.getIncidentKey()).send().join();
      same("card declined", incident.getErrorMessage());
      same("charge-card", client.newElementInstanceGetRequest(incident.getElementInstanceKey()).send().join().getElementId());
      final var variable = client.newVariableSearchRequest()
          .filter(f -> f.processInstanceKey(key).name("number")).send().join().items().get(0);
      same("10", client.newVariableGetRequest(variable.getVariableKey()).send().join().getValue());
    });
    checks.check("a process definition and its XML are read by their key", () -> {
      final var found = client.newProcessDefinitionGetRequest(orders.definitionKey()).send().join();
      same(Orders.PROCESS, found.getProcessDefinitionId());
      same(Files.readString(orders.model()).strip(),
          client.newProcessDefinitionGetXmlRequest(orders.definitionKey()).send().join().strip());
    });
    checks.check("an unknown key is not found", () ->
        refused(404, "there is no process instance", () -> client.newProcessInstanceGetRequest(5).send().join()));
  }

  private void jobs() {
    checks.check("a job is activated, failed with a back-off, and activated again", () -> {
      created();
      final ActivatedJob first = activated();
      same(Set.of("amount"), first.getVariablesAsMap().keySet());
      client.newFailCommand(first).retries(2).retryBackoff(Duration.ofMillis(50)).errorMessage("again")
          .variables(Map.of("code", 51)).send().join();
      final ActivatedJob second = activated();
      same(first.getKey(), second.getKey());
      same(2, second.getRetries());
      client.newCompleteCommand(second).send().join();
    });
    checks.check("an error that nothing catches becomes an incident", () -> {
      final long key = created();
      client.newThrowErrorCommand(activated()).errorCode("unknown").errorMessage("no such article").send().join();
      final var incident = client.newIncidentSearchRequest().filter(f -> f.processInstanceKey(key)).send().join().items().get(0);
      same(IncidentErrorType.UNHANDLED_ERROR_EVENT, incident.getErrorType());
    });
    checks.check("a job's deadline is changed", () -> {
      created();
      final ActivatedJob job = activated();
      client.newUpdateTimeoutCommand(job).timeout(Duration.ofMinutes(5)).send().join();
      client.newCompleteCommand(job).send().join();
    });
  }

  private void instances() {
    checks.check("an instance is cancelled, once", () -> {
      final long key = created();
      client.newCancelInstanceCommand(key).send().join();
      same(ProcessInstanceState.TERMINATED, client.newProcessInstanceGetRequest(key).send().join().getState());
      refused(404, "no active process instance", () -> client.newCancelInstanceCommand(key).send().join());
    });
    checks.check("an instance begins before an element", () -> {
      final var created = client.newCreateInstanceCommand().bpmnProcessId(PROCESS).latestVersion()
          .startBeforeElement("file-invoice").send().join();
      same(ProcessInstanceState.COMPLETED,
          client.newProcessInstanceGetRequest(created.getProcessInstanceKey()).send().join().getState());
    });
    checks.check("an instance ends after an element", () -> {
      final var created = client.newCreateInstanceCommand().bpmnProcessId(PROCESS).latestVersion()
          .terminateAfterElement("register-invoice").send().join();
      same(ProcessInstanceState.TERMINATED,
          client.newProcessInstanceGetRequest(created.getProcessInstanceKey()).send().join().getState());
    });
    checks.check("an instance is migrated to another version", () -> {
      final long key = created();
      final String changed = Files.readString(model).replace("\"transfer-money\"", "\"pay\"");
      final var deployment = client.newDeployResourceCommand()
          .addResourceString(changed, StandardCharsets.UTF_8, model.toString()).send().join();
      client.newMigrateProcessInstanceCommand(key)
          .migrationPlan(deployment.getProcesses().get(0).getProcessDefinitionKey())
          .addMappingInstruction("transfer-money", "pay").send().join();
      same(2, client.newProcessInstanceGetRequest(key).send().join().getProcessDefinitionVersion());
      same(1L, client.newElementInstanceSearchRequest()
          .filter(f -> f.processInstanceKey(key).elementId("pay")).send().join().page().totalItems());
    });
  }

  private void refusals() {
    checks.check("a start before an unknown element is refused by name", () ->
        refused(400, "'unknown'", () ->
            client.newCreateInstanceCommand().bpmnProcessId(PROCESS).latestVersion()
                .startBeforeElement("unknown").send().join()));
    checks.check("a filter by what does not exist is refused by name", () -> {
      refused(400, "filter.incidentErrorHashCode", () ->
          client.newProcessInstanceSearchRequest().filter(f -> f.incidentErrorHashCode(5)).send().join());
      refused(400, "filter.batchOperationId", () ->
          client.newProcessInstanceSearchRequest().filter(f -> f.batchOperationId("b-1")).send().join());
    });
    checks.check("a result for a listener is refused by name", () -> {
      created();
      final ActivatedJob job = activated();
      refused(400, "result", () ->
          client.newCompleteCommand(job).withResult(r -> r.forUserTask().deny(true)).send().join());
      client.newCompleteCommand(job).send().join();
    });
  }

  private long created() {
    return client.newCreateInstanceCommand().bpmnProcessId(PROCESS).version(1)
        .variables(Map.of("invoice", Map.of("account", "a-1", "amount", 20))).send().join().getProcessInstanceKey();
  }

  private ActivatedJob activated() {
    return client.newActivateJobsCommand().jobType(JOB_TYPE).maxJobsToActivate(1).timeout(Duration.ofMinutes(1))
        .workerName("by hand").fetchVariables("amount").requestTimeout(Duration.ofSeconds(20)).send().join()
        .getJobs().get(0);
  }
}
