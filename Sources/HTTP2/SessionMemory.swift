internal import CNghttp2
internal import Glibc

/// Memory for one nghttp2 session. What the session gives back is kept for its next request: it asks for the same few sizes
/// six times a request, in a hundred requests at once, and `malloc` would split and join its chunks each time.
///
/// Used by the thread of its session only. Whoever holds it ends the session first: all memory goes with the object.
///
/// What is kept hides faults from the address sanitizer: a piece that nghttp2 uses after giving it back is still the
/// process's. Under it nothing is kept, and each piece is `malloc`'s own.
final class SessionMemory {
    /// Stands before each piece, and keeps it on a boundary of sixteen bytes.
    private struct Head {
        /// Of its size's list; `notKept`: it is `malloc`'s own.
        let list: Int
        /// Bytes behind the head.
        let room: Int
    }

    private static let headBytes = MemoryLayout<Head>.stride
    private static let step = 64
    /// Beyond `step * lists` bytes a piece is `malloc`'s own.
    private static let lists = 32
    private static let notKept = -1
    private static let slabBytes = 65_536

    private let isKept: Bool
    /// The first free piece of each size; the next one's address stands in the piece.
    private let firstFree: UnsafeMutablePointer<UnsafeMutableRawPointer?>  // ours: freed in deinit
    private var slabs: [UnsafeMutableRawPointer] = []
    private var rest: UnsafeMutableRawPointer?
    private var restBytes = 0
    /// Pieces that the session holds.
    private(set) var held = 0

    /// Whether the address sanitizer is part of this program.
    static let isSanitized = dlsym(nil, "__asan_init") != nil

    /// - Parameter isKept: whether what is given back is used again.
    init(isKept: Bool = !SessionMemory.isSanitized) {
        self.isKept = isKept
        firstFree = .allocate(capacity: Self.lists)
        firstFree.initialize(repeating: nil, count: Self.lists)
    }

    deinit {
        for slab in slabs { free(slab) }
        firstFree.deallocate()
    }

    /// For `nghttp2_session_client_new3`, which copies it. Borrows this object.
    var callbacks: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, data in owner(data) { $0.take(size) } },
            free: { piece, data in _ = owner(data) { $0.giveBack(piece) } },
            calloc: { count, size, data in
                let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: size)
                guard !isTooMuch, let piece = owner(data, { $0.take(bytes) }) else { return nil }
                memset(piece, 0, bytes)
                return piece
            },
            realloc: { piece, size, data in owner(data) { $0.resize(piece, size) } })
    }

    /// - Returns: `nil` when the system has none.
    func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard bytes >= 0 else { return nil }
        let list = max(0, bytes - 1) / Self.step
        guard isKept, list < Self.lists else {
            return taken(Self.notKept, room: bytes, at: malloc(Self.headBytes + bytes))
        }
        if let piece = firstFree[list] {
            firstFree[list] = piece.load(as: UnsafeMutableRawPointer?.self)
            held += 1
            return piece
        }
        let room = (list + 1) * Self.step
        let size = Self.headBytes + room
        if restBytes < size {
            guard let slab = malloc(Self.slabBytes) else { return nil }
            slabs.append(slab)
            (rest, restBytes) = (slab, Self.slabBytes)
        }
        let start = rest
        rest = start.map { $0 + size }
        restBytes -= size
        return taken(list, room: room, at: start)
    }

    private func taken(_ list: Int, room: Int, at start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let start else { return nil }
        start.storeBytes(of: Head(list: list, room: room), as: Head.self)
        held += 1
        return start + Self.headBytes
    }

    func giveBack(_ piece: UnsafeMutableRawPointer?) {
        guard let piece else { return }
        held -= 1
        let start = piece - Self.headBytes
        let list = start.load(as: Head.self).list
        guard list != Self.notKept else { return free(start) }
        piece.storeBytes(of: firstFree[list], as: UnsafeMutableRawPointer?.self)
        firstFree[list] = piece
    }

    /// As `realloc`: `nil` leaves the old piece as it is.
    func resize(_ piece: UnsafeMutableRawPointer?, _ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let piece else { return take(bytes) }
        let room = (piece - Self.headBytes).load(as: Head.self).room
        if bytes <= room { return piece }
        guard let larger = take(bytes) else { return nil }
        larger.copyMemory(from: piece, byteCount: room)
        giveBack(piece)
        return larger
    }
}

/// Whoever owns the session holds its memory: no reference need be counted.
@inline(__always)
private func owner<R>(_ data: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> R?) -> R? {
    data.flatMap { Unmanaged<SessionMemory>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
}
