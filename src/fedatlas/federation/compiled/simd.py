"""A SIMD vector as a Numba type: arithmetic on several step sizes, or channels of an image, at once in the processor's
vector registers.

Numba's arrays may overlap as far as the compiler knows, so loops over a few neighbours in an array stay scalar. Values
of this type cannot overlap. No operation is fused, except by ``fma``, and none is reordered: a number has the same bits
in a vector of any width.

Where a function needs the width of a vector, its argument ``simd`` is a tuple of so many numbers of the vector's type,
or such a vector, which leaves less to compile where one compiled function calls another. Only its length and type
count; the compiler knows both.
"""

import operator

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from fedatlas.federation.compiled.decorators import inline

INT64 = ir.IntType(64)
REALS = {types.float32: (ir.FloatType(), "f32"), types.float64: (ir.DoubleType(), "f64")}


class Vector(types.Type):
    """The type of so many numbers of a real type, float32 or float64."""

    def __init__(self, count: int, dtype: types.Float) -> None:
        self.count, self.dtype = count, dtype
        super().__init__(name=f"Vector({count}, {dtype})")

    @property
    def llvm(self) -> ir.VectorType:
        """The type in LLVM."""
        return ir.VectorType(REALS[self.dtype][0], self.count)


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, vector.llvm)


@type_callable(len)
def _type_len(context):
    return lambda vector: types.intp if isinstance(vector, Vector) else None


@lower_builtin(len, Vector)
def _len(context, builder, signature, args):
    return INT64(signature.args[0].count)


for _operation, _name in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):

    @type_callable(getattr(operator, _operation))
    def _type(context):
        return lambda a, b: a if isinstance(a, Vector) and a == b else None

    @lower_builtin(getattr(operator, _operation), Vector, Vector)
    def _lower(context, builder, signature, args, name=_name):
        return getattr(builder, name)(*args)


@intrinsic
def fma(typing, a, b, c):
    """Return a b + c, rounded once: the same bits on every machine, and slow on one without the instruction."""

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(args[0].type, [args[0].type] * 3)
        name = f"llvm.fma.v{a.count}{REALS[a.dtype][1]}"
        return builder.call(builder.module.declare_intrinsic(name, (), kind), args)

    return a(a, a, a), generate


@intrinsic
def _power_of_two(typing, shifted):
    """Return 2^n for each of some doubles, where n is in the low bits of shifted."""

    def generate(context, builder, signature, args):
        integers = ir.VectorType(INT64, shifted.count)
        bits = builder.bitcast(args[0], integers)
        bits = builder.shl(bits, ir.Constant(integers, [52] * shifted.count))
        bits = builder.add(bits, ir.Constant(integers, [1023 << 52] * shifted.count))
        return builder.bitcast(bits, args[0].type)

    return shifted(shifted), generate


@intrinsic
def clamp(typing, a, low, high):
    """Return a where it lies between low and high, otherwise the nearer bound; NaN becomes high."""

    def generate(context, builder, signature, args):
        a, low, high = args
        a = builder.select(builder.fcmp_ordered("<", a, high), a, high)
        return builder.select(builder.fcmp_ordered(">", a, low), a, low)

    return a(a, a, a), generate


@intrinsic
def where_greater(typing, a, b, yes, no):
    """Return the entries of yes where a > b or a is NaN, and the entries of no elsewhere."""

    def generate(context, builder, signature, args):
        a, b, yes, no = args
        chosen = builder.or_(builder.fcmp_ordered(">", a, b), builder.fcmp_unordered("uno", a, a))
        return builder.select(chosen, yes, no)

    return yes(a, a, yes, yes), generate


@intrinsic
def where_equal(typing, a, b, yes, no):
    """Return the entries of yes where a = b, and the entries of no elsewhere."""

    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("==", *args[:2]), *args[2:])

    return yes(a, a, yes, yes), generate


@intrinsic
def pointer(typing, array):
    """Return the address of a contiguous array's numbers.

    Indexing it neither checks bounds nor counts references: the caller must keep the array alive.
    """

    def generate(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def offset(typing, pointer, at):
    """Return the address of a pointer's number ``at``."""

    def generate(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.intp), generate


@intrinsic
def entry(typing, table, number, columns):
    """Return a row of a table of whole numbers as the NamedTuple ``columns``. table: Pointer to its first row."""
    row = types.NamedUniTuple(types.int64, len(columns.instance_class._fields), columns.instance_class)

    def generate(context, builder, signature, args):
        rows = builder.bitcast(args[0], context.get_value_type(row).as_pointer())
        return builder.load(builder.gep(rows, [args[1]]), align=8)

    return row(table, types.intp, columns), generate


@intrinsic
def prefetch(typing, pointer, at):
    """Prefetch the cache line of a pointer's number ``at``."""

    def generate(context, builder, signature, args):
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        read, everywhere, data = (ir.Constant(flag, value) for value in (0, 3, 1))
        builder.call(function, [builder.bitcast(builder.gep(args[0], [args[1]]), byte), read, everywhere, data])
        return context.get_dummy_value()

    return types.void(pointer, types.intp), generate


def _neighbours(builder, pointer, at, kind):
    return builder.bitcast(builder.gep(pointer, [at]), kind.llvm.as_pointer())


@intrinsic
def load(typing, pointer, at, simd):
    """Return a vector of neighbours, from number ``at`` of a pointer to numbers."""
    kind = Vector(simd.count, simd.dtype)

    def generate(context, builder, signature, args):
        return builder.load(_neighbours(builder, args[0], args[1], kind), align=kind.dtype.bitwidth // 8)

    return kind(pointer, types.intp, simd), generate


@intrinsic
def store(typing, pointer, at, value):
    """Write a vector as neighbours, from number ``at`` of a pointer to numbers."""

    def generate(context, builder, signature, args):
        builder.store(args[2], _neighbours(builder, args[0], args[1], value), align=value.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, value), generate


@intrinsic(prefer_literal=True)
def zeros(typing, pointer, count):
    """Return a vector of so many zeros of a pointer's type. count: known to the compiler."""
    kind = Vector(count.literal_value, pointer.dtype)

    def generate(context, builder, signature, args):
        return ir.Constant(kind.llvm, None)

    return kind(pointer, count), generate


@intrinsic
def splat(typing, number, simd):
    """Return a vector whose entries are all the same number."""
    kind = Vector(simd.count, simd.dtype)

    def generate(context, builder, signature, args):
        nothing = ir.Constant(kind.llvm, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.Constant(ir.IntType(32), 0))
        order = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return builder.shuffle_vector(first, nothing, order)

    return kind(simd.dtype, simd), generate


@intrinsic
def tiled(typing, few, simd):
    """Return a vector that repeats the entries of few in their order."""
    kind = Vector(simd.count, few.dtype)

    def generate(context, builder, signature, args):
        order = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [k % few.count for k in range(kind.count)])
        return builder.shuffle_vector(args[0], ir.Constant(args[0].type, ir.Undefined), order)

    return kind(few, simd), generate


@intrinsic
def summed(typing, many, simd):
    """Return the sum of the consecutive parts of many, which are as wide as simd, in their order."""
    kind = Vector(simd.count, many.dtype)

    def generate(context, builder, signature, args):
        nothing, total = ir.Constant(args[0].type, ir.Undefined), None
        for first in range(0, many.count, kind.count):
            order = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), list(range(first, first + kind.count)))
            part = builder.shuffle_vector(args[0], nothing, order)
            total = part if total is None else builder.fadd(total, part)
        return total

    return kind(many, simd), generate


@intrinsic
def transpose_square(typing, pointer, at, across, to, down, simd):
    """Write n vectors of n neighbours, from ``at`` and ``across`` apart, as n columns: from ``to``, ``down`` apart."""
    kind = Vector(simd.count, simd.dtype)

    def generate(context, builder, signature, args):
        n, align = kind.count, kind.dtype.bitwidth // 8

        def row(first, distance, k):
            return _neighbours(builder, args[0], builder.add(first, builder.mul(distance, INT64(k))), kind)

        def interleave(a, b, start):
            order = [k // 2 + start + k % 2 * n for k in range(n)]
            return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), n), order))

        vectors = [builder.load(row(args[1], args[2], k), align=align) for k in range(n)]
        for _ in range(n.bit_length() - 1):  # rounds after each of which a bit of a row's number is one of a column's
            vectors = [interleave(vectors[k // 2], vectors[(k + n) // 2], k % 2 * n // 2) for k in range(n)]
        for k, vector in enumerate(vectors):
            builder.store(vector, row(args[3], args[4], k), align=align)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, types.intp, types.intp, types.intp, simd), generate


@inline
def exp(x, simd):
    """Return e^x of a vector of doubles for |x| <= 700, to two units in the last place."""
    shift = splat(6755399441055744.0, simd)  # adding 1.5 * 2^52 rounds to a whole number, left in the low bits
    shifted = x * splat(1.4426950408889634, simd) + shift
    multiple = shifted - shift
    r = (x - multiple * splat(6.93145751953125e-1, simd)) - multiple * splat(1.42860682030941723212e-6, simd)
    r2 = r * r
    r4 = r2 * r2
    unit = splat(1.0, simd)
    low = (unit + r) + r2 * (splat(1 / 2, simd) + r * splat(1 / 6, simd))
    middle = (splat(1 / 24, simd) + r * splat(1 / 120, simd)) + r2 * (splat(1 / 720, simd) + r * splat(1 / 5040, simd))
    high = (splat(1 / 40320, simd) + r * splat(1 / 362880, simd)) + r2 * (
        splat(1 / 3628800, simd) + r * splat(1 / 39916800, simd)
    )
    return (low + r4 * (middle + r4 * (high + r4 * splat(1 / 479001600, simd)))) * _power_of_two(shifted)
