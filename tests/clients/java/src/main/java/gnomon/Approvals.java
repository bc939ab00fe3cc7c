package gnomon;

import static gnomon.Checks.eventually;
import static gnomon.Checks.same;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.search.enums.BatchOperationState;
import io.camunda.client.api.search.enums.ElementInstanceState;
import io.camunda.client.api.search.enums.ProcessInstanceState;
import io.camunda.client.api.search.enums.UserTaskState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** A user task, a message and a signal over HTTP, and changes of the process instances that wait at them. */
final class Approvals {
  private static final String PROCESS = "approval-java";
  private static final int MANY = 20;
  private static final String MODEL =
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
        xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="urn:test">
        <bpmn:message id="message" name="paid">
          <bpmn:extensionElements><zeebe:subscription correlationKey="=order" /></bpmn:extensionElements>
        </bpmn:message>
        <bpmn:signal id="signal" name="released" />
        <bpmn:process id="approval-java" isExecutable="true">
          <bpmn:startEvent id="start" />
          <bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="approve" />
          <bpmn:userTask id="approve"><bpmn:extensionElements><zeebe:userTask /></bpmn:extensionElements></bpmn:userTask>
          <bpmn:sequenceFlow id="f2" sourceRef="approve" targetRef="payment" />
          <bpmn:intermediateCatchEvent id="payment">
            <bpmn:messageEventDefinition id="m" messageRef="message" />
          </bpmn:intermediateCatchEvent>
          <bpmn:sequenceFlow id="f3" sourceRef="payment" targetRef="release" />
          <bpmn:intermediateCatchEvent id="release">
            <bpmn:signalEventDefinition id="s" signalRef="signal" />
          </bpmn:intermediateCatchEvent>
          <bpmn:sequenceFlow id="f4" sourceRef="release" targetRef="end" />
          <bpmn:endEvent id="end" />
        </bpmn:process>
      </bpmn:definitions>
      """;

  private final CamundaClient client;
  private final Checks checks;

  Approvals(final CamundaClient client, final Checks checks) {
    this.client = client;
    this.checks = checks;
  }

  void run() {
    checks.check("a user task, a message and a signal lead to the end", () -> {
      client.newDeployResourceCommand().addResourceString(MODEL, StandardCharsets.UTF_8, "approval.bpmn").send().join();
      final long key = created("o-1");
      final long task = task(key);
      client.newAssignUserTaskCommand(task).assignee("ada").send().join();
      same("ada", client.newUserTaskGetRequest(task).send().join().getAssignee());
      client.newCompleteUserTaskCommand(task).variables(Map.of("approved", true)).send().join();
      client.newPublishMessageCommand().messageName("paid").correlationKey("o-1").timeToLive(Duration.ofMinutes(1))
          .variables(Map.of("amount", 7)).send().join();
      eventually(1L, () -> active(key, "release"));
      client.newBroadcastSignalCommand().signalName("released").send().join();
      eventually(ProcessInstanceState.COMPLETED, () -> client.newProcessInstanceGetRequest(key).send().join().getState());
    });
    checks.check("variables of an instance are set, and it is modified", () -> {
      final long key = created("o-2");
      client.newSetVariablesCommand(key).variables(Map.of("note", "by hand")).send().join();
      same("\"by hand\"", client.newVariableSearchRequest().filter(f -> f.processInstanceKey(key).name("note"))
          .send().join().items().get(0).getValue());
      client.newModifyProcessInstanceCommand(key).activateElement("release").and().terminateElements("approve")
          .send().join();
      same(1L, active(key, "release"));
      same(0L, active(key, "approve"));
      client.newCancelInstanceCommand(key).send().join();
    });
    checks.check("instances are cancelled by a filter", () -> {
      for (int number = 0; number < MANY; number++) {
        created("o-3");
      }
      final String operation = client.newCreateBatchOperationCommand().processInstanceCancel()
          .filter(f -> f.processDefinitionId(PROCESS).state(ProcessInstanceState.ACTIVE)).send().join()
          .getBatchOperationKey();
      eventually(BatchOperationState.COMPLETED, () -> client.newBatchOperationGetRequest(operation).send().join().getStatus());
      same(MANY, client.newBatchOperationGetRequest(operation).send().join().getOperationsCompletedCount());
      same(0L, client.newProcessInstanceSearchRequest()
          .filter(f -> f.processDefinitionId(PROCESS).state(ProcessInstanceState.ACTIVE)).send().join().page().totalItems());
    });
  }

  private long created(final String order) {
    return client.newCreateInstanceCommand().bpmnProcessId(PROCESS).latestVersion().variables(Map.of("order", order))
        .send().join().getProcessInstanceKey();
  }

  private long task(final long instance) {
    return client.newUserTaskSearchRequest().filter(f -> f.processInstanceKey(instance).state(UserTaskState.CREATED))
        .send().join().items().get(0).getUserTaskKey();
  }

  private long active(final long instance, final String element) {
    return client.newElementInstanceSearchRequest()
        .filter(f -> f.processInstanceKey(instance).elementId(element).state(ElementInstanceState.ACTIVE))
        .send().join().page().totalItems();
  }
}
