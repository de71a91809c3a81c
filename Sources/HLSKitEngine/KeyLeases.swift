import HLSKitLoading
import HLSKitSelection

/// How long the keys of an item hold, and which of those that came one after another for the same URL is in use.
///
/// A key that takes the place of another is a resource of its own, with the next generation: what was begun with the one
/// before ends with that.
struct KeyLeases: Sendable {
    private struct Lease {
        /// The key that segments are begun with.
        var generation = 0
        /// Why the one after it is asked for, or that one was asked for.
        var reason = ContentKeyRequest.Reason.needed
        /// From when on the next one is asked for, and from when on this one is of no use.
        var renewal: Duration?
        var expiration: Duration?
        /// Of the next one, whose answer has begun.
        var coming: (renewal: Duration?, expiration: Duration?)?
        /// It took the place of one that did not fit, and nothing was read with it yet.
        var isDoubted = false
        /// The segment that it did not fit: others may doubt the next one again.
        var doubter: Doubter?

        /// Segments wait for a key that is not here yet.
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

    /// Keys that the program gave, and those of servers that have decrypted something, by what they were before any took
    /// their place.
    private var leases: [ResourceID: Lease] = [:]

    /// The key in use at the place of one that a playlist names.
    func current(of key: SegmentKey) -> SegmentKey {
        guard let lease = leases[key.resource.first] else { return key }
        var key = key
        key.resource.generation = lease.generation
        return key
    }

    /// Why a key is asked for.
    func reason(for key: ResourceID) -> ContentKeyRequest.Reason {
        key.generation == 0 ? .needed : leases[key.first]?.reason ?? .needed
    }

    // MARK: Beginning

    /// Gives a segment that is begun the keys in use. Those that have expired are replaced first, so that it waits for
    /// them.
    ///
    /// - Returns: keys that are asked for while it is loaded.
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

    /// The program answers with a key.
    mutating func note(_ terms: KeyTerms, of key: ResourceID, at now: Duration) {
        guard key.kind == .key else { return }
        leases[key.first, default: Lease()].coming = (
            terms.renewal.map { now + max(.zero, $0) }, terms.expiration.map { now + max(.zero, $0) }
        )
    }

    /// A key is here: from now on segments are begun with it.
    mutating func load(_ key: ResourceID) {
        guard var lease = leases[key.first], key.generation >= lease.generation else { return }
        lease.generation = key.generation
        // One that the network gave in the end lasts for ever.
        (lease.renewal, lease.expiration) = lease.coming ?? (nil, nil)
        lease.coming = nil
        leases[key.first] = lease
    }

    /// A segment cannot be decrypted with a key.
    ///
    /// - Returns: whether it is begun again, with a key that takes its place. A key of a server that has decrypted nothing stays
    ///   what it is; one that has may be another by now behind the same URL.
    mutating func doubt(_ key: ResourceID, by doubter: Doubter? = nil) -> Bool {
        guard var lease = leases[key.first] else { return false }
        // Others that were begun with it come later.
        if key.generation < lease.generation { return true }
        guard !lease.isDoubted || lease.doubter != doubter else { return false }
        lease.reason = .receivedObsoleteContentKey
        lease.use(key.generation + 1)
        (lease.isDoubted, lease.doubter) = (true, doubter)
        leases[key.first] = lease
        return true
    }

    /// A segment was read with a key.
    mutating func prove(_ key: ResourceID?) {
        guard let key, key.generation == leases[key.first, default: Lease()].generation else { return }
        leases[key.first, default: Lease()].isDoubted = false
    }
}

extension ResourceID {
    /// What it was before any took its place.
    fileprivate var first: ResourceID { generation(0) }

    fileprivate func generation(_ number: Int) -> ResourceID {
        var id = self
        id.generation = number
        return id
    }
}
