import HLSKitLoading
import HLSKitSelection

/// The lifetimes of an item's keys, and which of the successive keys of a URL is in use.
///
/// A replacement key is a separate resource with the next generation. A segment that began with one generation ends
/// with it.
struct KeyLeases: Sendable {
    private struct Lease {
        var generation = 0
        /// The reason for requesting the next key or the current one.
        var reason = ContentKeyRequest.Reason.needed
        var renewal: Duration?
        var expiration: Duration?
        /// The terms of the next key, whose response has begun.
        var coming: (renewal: Duration?, expiration: Duration?)?
        /// Whether the key replaced one that did not fit and has not decrypted anything yet.
        var isDoubted = false
        /// The segment that the previous key did not fit. Other segments may doubt this key too.
        var doubter: Doubter?

        /// Uses a key that has not arrived yet. Segments wait for it.
        mutating func use(_ generation: Int) {
            self.generation = generation
            (renewal, expiration) = (nil, nil)
        }
    }

    /// A segment that could not be decrypted.
    struct Doubter: Sendable, Hashable {
        var lane: LaneID
        var position: SegmentPosition
    }

    /// The leases of keys from the app and of proven server keys, by their first generation.
    private var leases: [ResourceID: Lease] = [:]

    func current(of key: SegmentKey) -> SegmentKey {
        guard let lease = leases[key.resource.first] else { return key }
        var key = key
        key.resource.generation = lease.generation
        return key
    }

    func reason(for key: ResourceID) -> ContentKeyRequest.Reason {
        key.generation == 0 ? .needed : leases[key.first]?.reason ?? .needed
    }

    // MARK: Beginning

    /// Assigns the keys in use to a new segment. Expired keys are replaced, so the segment waits for new ones.
    ///
    /// - Returns: The keys to request while the segment loads.
    mutating func assign(to job: inout SegmentJob, at now: Duration) -> [ResourceID] {
        guard !leases.isEmpty else { return [] }
        var renewals: [ResourceID] = []
        assign(to: &job.key, at: now, &renewals)
        assign(to: &job.mapKey, at: now, &renewals)
        return renewals
    }

    private mutating func assign(to key: inout SegmentKey?, at now: Duration, _ renewals: inout [ResourceID]) {
        guard let id = key?.resource.first, var lease = leases[id] else { return }
        if let expiration = lease.expiration, now >= expiration {
            lease.reason = .renewal
            lease.use(lease.generation + 1)
        }
        key?.resource.generation = lease.generation
        if let renewal = lease.renewal, now >= renewal {
            lease.reason = .renewal
            let next = id.generation(lease.generation + 1)
            if !renewals.contains(next) { renewals.append(next) }
        }
        leases[id] = lease
    }

    // MARK: Answers

    mutating func note(_ terms: KeyTerms, of key: ResourceID, at now: Duration) {
        guard key.kind == .key else { return }
        leases[key.first, default: Lease()].coming = (
            terms.renewal.map { now + max(.zero, $0) }, terms.expiration.map { now + max(.zero, $0) }
        )
    }

    mutating func load(_ key: ResourceID) {
        guard var lease = leases[key.first], key.generation >= lease.generation else { return }
        lease.generation = key.generation
        // A key that finally came from the network never expires.
        (lease.renewal, lease.expiration) = lease.coming ?? (nil, nil)
        lease.coming = nil
        leases[key.first] = lease
    }

    /// Notes that a segment cannot be decrypted with a key.
    ///
    /// - Returns: Whether to restart the segment with a replacement key. A server's key is replaced only if it has
    ///   decrypted media, because the server may have changed the key at its URL since then.
    mutating func doubt(_ key: ResourceID, by doubter: Doubter? = nil) -> Bool {
        guard var lease = leases[key.first] else { return false }
        // Other segments that began with the same key fail later.
        if key.generation < lease.generation { return true }
        guard !lease.isDoubted || lease.doubter != doubter else { return false }
        lease.reason = .receivedObsoleteContentKey
        lease.use(key.generation + 1)
        (lease.isDoubted, lease.doubter) = (true, doubter)
        leases[key.first] = lease
        return true
    }

    /// Notes that a segment was decrypted with a key.
    mutating func prove(_ key: ResourceID?) {
        guard let key, key.generation == leases[key.first, default: Lease()].generation else { return }
        leases[key.first, default: Lease()].isDoubted = false
    }
}

extension ResourceID {
    fileprivate var first: ResourceID { generation(0) }

    fileprivate func generation(_ number: Int) -> ResourceID {
        var id = self
        id.generation = number
        return id
    }
}
