"""Code for lists and contexts; paths, filters and loops become lines of the same function."""

from server.feel import nodes
from server.feel.closures.paths import ALWAYS_PER_ITEM
from server.feel.constants import constant_of
from server.feel.generated.block import SCALARS, Block, Emit, Item, Kind, Level, UnsupportedError


def list_literal(node: nodes.ListLiteral, block: Block, emit: Emit) -> str:
    items = [emit(item, block) for item in node.items]
    is_flat = all(block.kind(item) in SCALARS for item in items)
    return block.assigned(f"[{', '.join(items)}]", Kind.FLAT_LIST if is_flat else Kind.LIST)


def context_literal(node: nodes.ContextLiteral, block: Block, emit: Emit) -> str:
    keys = [key for key, _ in node.entries]
    if len({*keys}) < len(keys):
        raise UnsupportedError(node)
    around, values = block.levels, []
    for key, each in node.entries:
        values.append(emit(each, block))
        block.levels += ({key: values[-1]},)
    block.levels = around
    is_flat = all(block.kind(value) in SCALARS for value in values)
    entries = [f"{block.constant(key)}: {value}" for key, value in zip(keys, values, strict=True)]
    return block.assigned(f"{{{', '.join(entries)}}}", Kind.FLAT_CONTEXT if is_flat else Kind.CONTEXT)


def path(node: nodes.Path, block: Block, emit: Emit) -> str:
    """Generate access to an entry of a context, or of every context in a list."""
    source, key = emit(node.source, block), block.constant(node.key)
    result = block.source.variable()
    block.line(f"if type({source}) is dict: {result} = {source}[{key}]")
    block.line("else:")
    of_list = block.inner()
    of_list.require(source, Kind.LIST)
    of_list.charge(f"len({source})")
    of_list.line(f"{result} = [each[{key}] for each in {source}]")
    return result


def filtered(node: nodes.Filter, block: Block, emit: Emit) -> str:
    items, index = emit(node.source, block), constant_of(node.condition)
    block.require(items, Kind.LIST)
    if type(index) is int and index != 0:
        offset = index - 1 if index > 0 else index
        return block.assigned(f"{items}[{offset}] if len({items}) >= {abs(index)} else None")
    if not isinstance(node.condition, ALWAYS_PER_ITEM):
        raise UnsupportedError(node)
    selected, item = block.assigned("[]", Kind.LIST), block.source.variable()
    inner, steps = _rounds(items, item, Item(item), block)
    inner.line(f"if {_decision(node.condition, inner, steps, emit)}: {selected}.append({item})")
    return selected


def for_loop(node: nodes.For, block: Block, emit: Emit) -> str:
    items, name = _single(node.iterators, block, emit)
    result, item = block.assigned("[]", Kind.LIST), block.source.variable()
    inner, steps = _rounds(items, item, {name: item, "partial": None}, block)
    value = _repeated(node.result, inner, steps, emit)
    inner.line(f"{result}.append({value})")
    if inner.kind(value) in SCALARS:
        block.learn(result, Kind.FLAT_LIST)
    return result


def quantified(node: nodes.Quantified, block: Block, emit: Emit) -> str:
    items, name = _single(node.iterators, block, emit)
    result, item = block.assigned(str(node.is_every), Kind.BOOLEAN), block.source.variable()
    inner, steps = _rounds(items, item, {name: item}, block)
    decision = _decision(node.condition, inner, steps, emit)
    inner.line(f"if {'not ' if node.is_every else ''}{decision}:")
    decided = inner.inner()
    decided.line(f"{result} = {not node.is_every}")
    decided.line("break")
    return result


def _single(iterators: tuple[nodes.Iterator, ...], block: Block, emit: Emit) -> tuple[str, str]:
    """Return the list and the name of the only iterator."""
    iterator, *others = iterators
    if others or isinstance(iterator.source, nodes.IteratedRange):
        raise UnsupportedError(iterator)
    items = emit(iterator.source, block)
    block.require(items, Kind.LIST)
    return items, iterator.name


def _rounds(items: str, item: str, level: Level, block: Block) -> tuple[Block, str]:
    """Begin a loop; return its inner block and the constant for the steps per round."""
    steps = block.constant(0)
    block.charge(f"(len({items}) + 1) * {steps}")
    block.line(f"for {item} in {items}:")
    return block.inner(level), steps


def _repeated(node: nodes.Node, block: Block, steps: str, emit: Emit) -> str:
    size = block.source.size
    value = emit(node, block)
    block.source.namespace[steps] = block.source.size - size
    return value


def _decision(node: nodes.Node, block: Block, steps: str, emit: Emit) -> str:
    decision = _repeated(node, block, steps, emit)
    block.require(decision, Kind.BOOLEAN)
    return decision
